import PeerConnection
import Simulation
import TestSupport
import Testing
import Wire

/// Candidates that servers give, after the descriptions.
@Suite struct GatheringTests {
  private static let seen = TransportAddress(ip: IPAddress("198.51.100.7")!, port: 40000)
  private static let relayed = TransportAddress(ip: IPAddress("192.0.2.99")!, port: 50000)

  private static func pair(gathers: Bool, policy: ICETransportPolicy = .all) -> SimulatedPair {
    SimulatedPair { side, configuration in
      guard side == .parent else { return }
      configuration.gathersCandidates = gathers
      configuration.iceTransportPolicy = policy
    }
  }

  private static func candidates(of connection: PeerConnection) -> (texts: [String], isComplete: Bool) {
    var texts: [String] = []
    var isComplete = false
    while let output = connection.poll() {
      switch output {
      case .event(.localCandidate(let text)): texts.append(text)
      case .event(.localCandidatesComplete): isComplete = true
      default: break
      }
    }
    return (texts, isComplete)
  }

  @Test func withoutServersTheOfferSaysThatItIsComplete() throws {
    let pair = Self.pair(gathers: false)
    let offer = try pair.parent.offer(wantsDataChannel: true, now: pair.now)
    #expect("\(offer)".contains("a=end-of-candidates"))
  }

  @Test func whatComesAfterTheOfferIsToldAndThenItsEnd() throws {
    let pair = Self.pair(gathers: true)
    let offer = try pair.parent.offer(wantsDataChannel: true, now: pair.now)
    #expect(!"\(offer)".contains("a=end-of-candidates"))
    pair.parent.addServerReflexiveCandidate(Self.seen, base: pair.parentAddress, now: pair.now)
    pair.parent.addRelayedCandidate(Self.relayed, related: Self.seen, preference: 5, now: pair.now)
    pair.parent.endLocalCandidates(now: pair.now)
    let (texts, isComplete) = Self.candidates(of: pair.parent)
    #expect(texts.count == 2 && isComplete)
    #expect(texts[0].contains("198.51.100.7 40000 typ srflx raddr 192.0.2.1 rport 5000"))
    #expect(texts[1].contains("192.0.2.99 50000 typ relay raddr 198.51.100.7 rport 40000"))
  }

  @Test func withoutANATTheServersAddressIsRedundant() throws {
    let pair = Self.pair(gathers: true)
    _ = try pair.parent.offer(wantsDataChannel: true, now: pair.now)
    pair.parent.addServerReflexiveCandidate(pair.parentAddress, base: pair.parentAddress, now: pair.now)
    #expect(Self.candidates(of: pair.parent).texts.isEmpty)
  }

  @Test func anAddressThatIsGoneHasNoReflexiveOne() throws {
    let pair = Self.pair(gathers: true)
    _ = try pair.parent.offer(wantsDataChannel: true, now: pair.now)
    let other = TransportAddress(ip: IPAddress("10.9.9.9")!, port: 1)
    pair.parent.addServerReflexiveCandidate(Self.seen, base: other, now: pair.now)
    #expect(Self.candidates(of: pair.parent).texts.isEmpty)
  }

  @Test func aSecondSearchIsToldAsIncompleteInARestart() throws {
    let pair = Self.pair(gathers: true)
    let offer = try pair.parent.offer(wantsDataChannel: true, now: pair.now)
    pair.parent.endLocalCandidates(now: pair.now)
    try pair.parent.accept(pair.child.answer(offer, now: pair.now), now: pair.now)
    #expect(try pair.parent.beginICERestart(now: pair.now).isComplete)
    pair.parent.resumeGathering()
    #expect(try !pair.parent.beginICERestart(now: pair.now).isComplete)
  }

  @Test func withRelaysAloneNoAddressOfOursIsTold() throws {
    let pair = Self.pair(gathers: true, policy: .relay)
    pair.parent.updateLocalAddresses([MachineAddress(address: pair.parentAddress)], now: pair.now)
    let offer = try pair.parent.offer(wantsDataChannel: true, now: pair.now)
    pair.parent.addServerReflexiveCandidate(Self.seen, base: pair.parentAddress, now: pair.now)
    pair.parent.addRelayedCandidate(Self.relayed, related: Self.seen, preference: 5, now: pair.now)
    let texts = Self.candidates(of: pair.parent).texts
    #expect(!"\(offer)".contains("a=candidate"))
    #expect(texts.count == 1 && texts[0].contains("typ relay"))
    #expect(!texts[0].contains("198.51.100.7"))
  }
}
