import Identity
import Pairing
import SDP
import TestSupport
import Wire

@testable import Signaling

/// A node with a key of its own.
struct LabNode {
  let identity = NodeIdentity.generate()

  var id: String { identity.id }

  var envelope: SignedEnvelope {
    SignedEnvelope(id: id, signer: identity, verifier: PairingPrimitives())
  }

  /// As the other side keeps it.
  var peer: PairedPeer {
    PairedPeer(id: id, publicKeySPKI: identity.publicKeySPKI, permissions: [.view, .listen])
  }
}

/// A child with its room, in fake time, and whoever comes to it.
struct SignalingLab {
  static let offer = try! SessionDescription(parsing: Fixture.text("offer-aiortc.sdp"))
  static let answer = try! SessionDescription(parsing: Fixture.text("offer-chromium-recvonly.sdp"))
  static let candidate = "candidate:1 1 udp 2130706431 192.0.2.7 40000 typ host"
  static let fragment = TrickleFragment(ufrag: "Neww", pwd: "newnewnewnewnewnewnewnew")

  let childNode = LabNode()
  var now = Instant.zero
  var rooms: RoomServer
  var child: PairedChildSessions
  /// The child's pair records.
  var pairs: [String: PairedPeer] = [:]
  /// Offers are answered as they come.
  var answersAtOnce = true
  /// What is removed from the child's pairs stays removed after a restart.
  var storesRemovals = true
  /// What the child was told to do, messages apart.
  var childLog: [PairedChildAction] = []
  /// What the room said to each connection and nobody has taken yet.
  var inbox: [RoomConnectionID: [RoomReply]] = [:]
  var closed: [RoomConnectionID: RoomError] = [:]
  /// What the child has heard, as an eavesdropper would keep it.
  var heard: [RoomDelivery] = []

  private static let host = RoomConnectionID(number: 0)

  init(limits: PairedChildLimits = PairedChildLimits()) {
    rooms = RoomServer(random: SeededGenerator(seed: 1))
    rooms.open(room: childNode.id, host: Self.host)
    child = PairedChildSessions(
      envelope: childNode.envelope, limits: limits, random: SeededGenerator(seed: 2))
  }

  mutating func pair(_ node: LabNode) {
    pairs[node.id] = node.peer
  }

  mutating func connect(_ number: UInt64) -> RoomConnectionID {
    let id = RoomConnectionID(number: number)
    perform(rooms.connect(id, now: now))
    return id
  }

  mutating func request(_ request: RoomRequest, from id: RoomConnectionID) {
    perform(rooms.receive(request, from: id, now: now))
  }

  /// What has come for a connection.
  mutating func take(_ id: RoomConnectionID) -> [RoomReply] {
    defer { inbox[id] = [] }
    return inbox[id] ?? []
  }

  /// Registers under a name; gives the challenge.
  mutating func register(_ id: RoomConnectionID, as client: String) -> String {
    request(.register(room: childNode.id, client: client), from: id)
    for case .registered(let registration) in take(id) { return registration.challenge }
    preconditionFailure("the room lets everybody in")
  }

  mutating func perform(_ actions: [RoomAction]) {
    for action in actions {
      switch action {
      case .send(Self.host, .message(let delivery)): deliver(delivery)
      case .send(let id, let reply), .deliver(let id, let reply): inbox[id, default: []].append(reply)
      case .close(let id, let error): closed[id] = error
      }
    }
  }

  /// To the child, as its room or another one does.
  mutating func deliver(_ delivery: RoomDelivery) {
    heard.append(delivery)
    let pairs = pairs
    perform(child.receive(delivery, pairs: { pairs[$0] }, now: now))
  }

  mutating func perform(_ actions: [PairedChildAction]) {
    for action in actions {
      if case .send(let client, let message) = action {
        perform(rooms.receive(.send(to: client.name, message: message), from: Self.host, now: now))
        continue
      }
      childLog.append(action)
      switch action {
      case .vouch(let client, _): rooms.vouch(for: client.name, in: childNode.id)
      case .offered(let offer): if answersAtOnce { perform(child.answer(offer.session, Self.answer)) }
      case .restart(let session, _): perform(child.restarted(session, Self.fragment))
      case .unpaired(let farewell): perform(child.answer(farewell, isStored: storesRemovals))
      case .dismiss(let client): perform(rooms.dismiss(client.name, from: childNode.id, reason: "dismissed"))
      case .refused(let client, let reason):
        perform(rooms.dismiss(client.name, from: childNode.id, reason: "\(reason)"))
      default: break
      }
    }
  }

  var offers: [PairedOffer] {
    childLog.compactMap { if case .offered(let offer) = $0 { offer } else { nil } }
  }

  var unpaired: [String] {
    childLog.compactMap { if case .unpaired(let farewell) = $0 { farewell.parent } else { nil } }
  }

  var refusals: [SignalingRefusal] {
    childLog.compactMap { if case .refused(_, let reason) = $0 { reason } else { nil } }
  }

  /// Signs whatever is wanted, as an attacker with that node's key could.
  func sealed(
    by node: LabNode, from: LabNode? = nil, to: String? = nil, session: String = LabParent.someSession,
    challenge: String, revision: Int = 0, _ content: SignedMessage.Content
  ) -> String {
    node.envelope.seal(
      SignedMessage(
        from: (from ?? node).id, to: to ?? childNode.id, session: session, challenge: challenge, revision: revision,
        content: content))
  }
}

/// A parent's session over a connection to the lab's room.
struct LabParent {
  static let someSession = "AAAAAAAAAAAAAAAAAAAAAA"

  let node: LabNode
  var id: RoomConnectionID
  var session: PairedParentSession
  var log: [PairedParentAction] = []
  /// What stands between; may change or drop what it passes on.
  var toParent: (RoomReply) -> [RoomReply] = { [$0] }
  var toRoom: (RoomRequest) -> [RoomRequest] = { [$0] }

  init(_ node: LabNode, _ number: UInt64, in lab: inout SignalingLab) {
    self.node = node
    id = lab.connect(number)
    session = PairedParentSession(
      envelope: node.envelope, child: lab.childNode.peer, random: SeededGenerator(seed: 100 + number))
  }

  /// Starts to watch, and lets everything go its way.
  mutating func watch(in lab: inout SignalingLab) {
    perform(session.start(offer: SignalingLab.offer, now: lab.now), in: &lab)
    run(in: &lab)
  }

  mutating func perform(_ actions: [PairedParentAction], in lab: inout SignalingLab) {
    for action in actions {
      guard case .send(let request) = action else {
        log.append(action)
        continue
      }
      for request in toRoom(request) { lab.request(request, from: id) }
    }
  }

  mutating func run(in lab: inout SignalingLab) {
    while true {
      let replies = lab.take(id)
      if replies.isEmpty { return }
      for reply in replies.flatMap(toParent) { perform(session.receive(reply, now: lab.now), in: &lab) }
    }
  }

  var answers: Int {
    log.count { if case .answered = $0 { true } else { false } }
  }

  var refusals: [SignalingRefusal] {
    log.compactMap { if case .refused(let reason) = $0 { reason } else { nil } }
  }
}
