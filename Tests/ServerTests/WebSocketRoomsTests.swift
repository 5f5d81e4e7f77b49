import Identity
import NIOCore
import NIOPosix
import Pairing
import SDP
import Signaling
import TestSupport
import Testing
import Wire

@testable import Server

/// A child's room behind its HTTPS port, and a parent's session with it, over real sockets.
@Suite struct WebSocketRoomsTests {
  private static let description = Fixture.text("offer-aiortc.sdp")

  private static func envelope(_ identity: NodeIdentity) -> SignedEnvelope {
    SignedEnvelope(id: identity.id, signer: identity, verifier: PairingPrimitives())
  }

  private static func peer(_ identity: NodeIdentity) -> PairedPeer {
    PairedPeer(id: identity.id, publicKeySPKI: identity.publicKeySPKI, permissions: .all)
  }

  /// The child's end: answers whatever its one paired parent offers.
  private final class Child: @unchecked Sendable {
    let identity = NodeIdentity.generate()
    let rooms: WebSocketRooms
    private let parent: PairedPeer
    private var sessions: PairedChildSessions
    private var host: WebSocketRooms.Host?

    init(parent: PairedPeer, loop: any EventLoop, limits: RoomLimits) {
      self.parent = parent
      sessions = PairedChildSessions(envelope: envelope(identity), random: SystemRandomNumberGenerator())
      let start = ContinuousClock.now
      rooms = WebSocketRooms(
        limits: limits, random: SystemRandomNumberGenerator(), eventLoop: loop,
        now: { .zero + (ContinuousClock.now - start) })
    }

    func open() {
      host = rooms.open(room: identity.id) { [unowned self] delivery in
        perform(sessions.receive(delivery, pairs: { $0 == self.parent.id ? self.parent : nil }, now: .zero))
      }
    }

    private func perform(_ actions: [PairedChildAction]) {
      for action in actions {
        switch action {
        case .send(let client, let message): host?.send(to: client.name, message: message)
        case .vouch(let client, let parent):
          host?.vouch(for: client.name, of: ConnectionCredential(id: parent, isParent: true, maximumConnections: 4))
        case .refused(let client, let reason): host?.dismiss(client.name, reason: "\(reason)")
        case .offered(let offer): perform(sessions.answer(offer.session, offer.description))
        default: break
        }
      }
    }
  }

  private static func start(
    parent: PairedPeer, limits: RoomLimits = RoomLimits()
  ) async throws -> (WebSocketLab, Child) {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let child = Child(parent: parent, loop: loop, limits: limits)
    try await loop.submit { child.open() }.get()
    let lab = try await WebSocketLab.start(on: loop, accept: { child.rooms.accept($0) })
    return (lab, child)
  }

  /// Watches until the session is answered or has failed.
  private static func watch(
    _ lab: WebSocketLab, _ identity: NodeIdentity, child: PairedPeer
  ) async throws -> PairedParentAction? {
    let socket = try await lab.open(trust: .firstUse { _ in true })
    var session = PairedParentSession(
      envelope: envelope(identity), child: child, random: SystemRandomNumberGenerator())
    var actions = session.start(offer: try SessionDescription(parsing: description), now: .zero)
    while true {
      for action in actions {
        guard case .send(let request) = action else {
          socket.close()
          return action
        }
        socket.send(RoomMessages.text(request))
      }
      guard case .text(let text)? = await socket.next() else { return nil }
      actions = session.receive(try RoomMessages.reply(text), now: .zero)
    }
  }

  @Test func aPairedParentGetsItsAnswer() async throws {
    let parent = NodeIdentity.generate()
    let (lab, child) = try await Self.start(parent: Self.peer(parent))
    let outcome = try await Self.watch(lab, parent, child: Self.peer(child.identity))
    #expect(outcome == .answered(try SessionDescription(parsing: Self.description)))
    await lab.server.stop()
  }

  @Test func aStrangerLearnsThatItIsOne() async throws {
    let (lab, child) = try await Self.start(parent: Self.peer(NodeIdentity.generate()))
    let outcome = try await Self.watch(lab, NodeIdentity.generate(), child: Self.peer(child.identity))
    #expect(outcome == .failed(.dismissed(.notPaired)))
    await lab.server.stop()
  }

  @Test func whoSaysNothingOrNonsenseIsSentAway() async throws {
    var limits = RoomLimits()
    limits.registrationTime = .seconds(1)
    let (lab, _) = try await Self.start(parent: Self.peer(NodeIdentity.generate()), limits: limits)
    for text in [nil, "nonsense", #"{"cmd":"dance"}"#] {
      let socket = try await lab.open()
      if let text { socket.send(text) }
      guard case .text(let reply)? = await socket.next(), case .error(let error) = try RoomMessages.reply(reply)
      else { return #expect(Bool(false), "the reason is said") }
      #expect(error.code == (text == nil ? .timeout : .badMessage))
      guard case .closed(.byPeer(1008, _))? = await socket.next() else {
        return #expect(Bool(false), "and the connection is closed")
      }
    }
    await lab.server.stop()
  }
}
