import Control
import Pairing
import Testing
import Wire

@testable import Child
@testable import Server
@testable import Signaling

@Suite struct ViewerSessionTests {
  private func session(_ number: UInt64, parent: String = "0123456789abcdef", since: Int = 0) -> ViewerSession {
    ViewerSession(
      peer: PeerID(number: number), origin: .paired(PairedSessionID(parent: parent, session: "\(number)")),
      name: "Phone", permissions: [.view, .listen], camera: 0, hasPictureTrack: true, hasSoundTrack: false,
      since: at(Double(since)), reach: .localNetwork)
  }

  private func at(_ seconds: Double) -> Instant { Instant.zero + .milliseconds(Int(seconds * 1000)) }

  @Test func ordersHaveABurstAndThenARate() {
    let viewer = session(1)
    let atOnce = (0..<100).count { _ in viewer.countOrder(at: at(10)) }
    #expect(atOnce == ControlLimits.orderBurst)
    let later = (0..<1000).count { number in viewer.countOrder(at: at(10 + Double(number) / 100)) }
    #expect((99...101).contains(later), "ten a second for ten seconds: \(later)")
    // Another viewer has its own.
    #expect(session(2).countOrder(at: at(10)))
  }

  @Test func aPermissionThatIsTakenAwayEndsItsTrack() {
    let viewer = session(1)
    viewer.isConnected = true
    #expect(viewer.seesPicture && !viewer.hearsSound && viewer.isWatching)
    viewer.permissions = .listen
    #expect(!viewer.seesPicture && !viewer.isWatching)
    viewer.permissions = .all
    #expect(viewer.seesPicture && !viewer.hearsSound, "what was not negotiated cannot be sent")
  }

  @Test func theRegistryFindsASessionByItsPeerAndByItsSignalling() {
    let registry = ViewerRegistry()
    let (first, second) = (session(1, since: 5), session(2, since: 3))
    registry.add(first)
    registry.add(second)
    #expect(registry.byAge.map(\.id) == ["peer-2", "peer-1"])
    #expect(registry[first.peer] === first)
    #expect(registry.session(paired: PairedSessionID(parent: "0123456789abcdef", session: "2")) === second)
    var random = SystemRandomNumberGenerator()
    #expect(registry.session(whep: WHEPSessionID(random: &random)) == nil)
    registry.remove(second)
    #expect(registry.all.count == 1 && registry[second.peer] == nil)
  }

  @Test func everyObserverIsTold() {
    let registry = ViewerRegistry()
    var told: [String] = []
    registry.observe { event in if case .ended(let session) = event { told.append("first \(session.id)") } }
    registry.observe { event in if case .ended(let session) = event { told.append("second \(session.id)") } }
    registry.notify(.secondPassed)
    registry.notify(.ended(session(7)))
    #expect(told == ["first peer-7", "second peer-7"])
  }
}
