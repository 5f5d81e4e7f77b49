import Control
import Frames
import Identity
import Messages
import NIOCore
import NIOHTTP1
import NIOPosix
import Pairing
import PeerConnection
import SCTP
import SDP
import SecureTransport
import Server
import Signaling
import Wire

/// A child on loopback with everything but devices: pairing, its room, sessions and canned answers to commands.
///
/// `@unchecked Sendable`: confined to its event loop but for `start` and what hops there.
final class FakeChild: @unchecked Sendable {
  let identity = NodeIdentity.generate()
  private(set) var port: UInt16 = 0
  private let loop: any EventLoop
  private let hub: PeerHub
  private let rooms: WebSocketRooms
  private var pairing: PairingResponder
  private var pairs: PairBook
  private var sessions: PairedChildSessions
  private var host: WebSocketRooms.Host?
  private var peers: [PeerID: PairedSessionID] = [:]
  private var channels: [PeerID: UInt16] = [:]
  private var light = LightDocument(id: "nightlight", state: .off, brightness: 80, dimmable: true)
  private var server: HTTPServer?
  /// How it says that it is reached from elsewhere; an earlier version says nothing of it.
  private let away: AwayDocument?
  /// Whether it says anything at all when a session opens.
  private let isGreeting: Bool
  /// False: its disk is full.
  var storesRemovals = true
  /// A still of more than one message.
  static let picture: [UInt8] = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

  /// - Parameter certificateIdentity: whose certificate HTTPS shows; the child's own unless it has one from elsewhere.
  static func start(
    certificateIdentity: NodeIdentity? = nil, away: AwayDocument? = nil, isGreeting: Bool = true
  ) async throws -> FakeChild {
    let child = try FakeChild(loop: MultiThreadedEventLoopGroup.singleton.next(), away: away, isGreeting: isGreeting)
    let shown = certificateIdentity ?? child.identity
    let certificate = try Certificate(key: shown.key, addresses: [.v4(0x7f00_0001)])
    try await child.hub.bind(ports: 0...0)
    try await child.loop.submit { child.open() }.get()
    let server = try await HTTPServer.start(
      host: "127.0.0.1", port: 0, tls: TLSContext(key: shown.key, certificate: certificate),
      webSocket: WebSocketEndpoint(path: "/signal", accept: { socket in child.rooms.accept(socket) }), on: child.loop
    ) { request in child.respond(request) }
    child.server = server
    child.port = UInt16(server.port)
    return child
  }

  private init(loop: any EventLoop, away: AwayDocument?, isGreeting: Bool) throws {
    self.loop = loop
    self.away = away
    self.isGreeting = isGreeting
    let identity = identity
    let transports = try OpenSSLTransports(key: identity.key, certificate: Certificate(key: identity.key))
    hub = PeerHub(eventLoop: loop, limit: 8, now: { MonotonicClock.now }) { configuration in
      PeerConnection(
        configuration: configuration, secure: transports, hashes: CryptoHashes(), random: SystemRandomNumberGenerator(),
        wallClock: MonotonicClock.wallClockReference)
    }
    rooms = WebSocketRooms(random: SystemRandomNumberGenerator(), eventLoop: loop, now: { MonotonicClock.now })
    var quick = PairingConfiguration()
    quick.iterations = PairingSize.iterations.lowerBound
    pairing = PairingResponder(
      configuration: quick, identity: identity, name: "Nursery", crypto: PairingPrimitives(),
      random: SystemRandomNumberGenerator())
    guard let empty = PairBook() else { preconditionFailure("nobody is not too many") }
    pairs = empty
    sessions = PairedChildSessions(
      envelope: SignedEnvelope(
        id: identity.id, signer: identity, verifier: PairingPrimitives()),
      random: SystemRandomNumberGenerator())
  }

  func stop() async {
    await hub.shutDown()
    try? await loop.submit { self.rooms.shutDown() }.get()
    await server?.stop()
  }

  // MARK: - Pairing

  func openPairing() async throws -> (code: PairingCode, link: PairingLink) {
    try await loop.submit { [self] in
      let offer = pairing.open(now: MonotonicClock.now)
      return (offer.code, PairingLink(origin: "https://127.0.0.1:\(port)", secret: offer.secret))
    }.get()
  }

  /// The parents that it is paired with.
  func parents() async throws -> [PairRecord] {
    try await loop.submit { self.pairs.records }.get()
  }

  /// As `cradle-child unpair` does.
  func unpairAll() async throws {
    try await loop.submit { [self] in
      for record in pairs.records {
        pairs.revoke(id: record.id)
        perform(sessions.endAll(of: record.id, .notPaired))
      }
    }.get()
  }

  private func respond(_ request: HTTPRequest) -> EventLoopFuture<HTTPResponse> {
    guard request.path == "/pair" else { return loop.makeSucceededFuture(HTTPResponse(status: .notFound)) }
    let now = MonotonicClock.now
    do throws(PairingRefusal) {
      let date = UnixTime(seconds: MonotonicClock.unixNanoseconds / 1_000_000_000)
      switch try pairing.handle(PairingMessages.request(request.body), now: now, date: date) {
      case .reply(let reply): return succeeded(reply)
      case .paired(let record, _, let reply):
        try? pairs.add(record, date: date)
        return succeeded(reply)
      case .settled(let verdict, let pair, let reply):
        if verdict == .cancel { pairs.revoke(id: pair) } else { pairs.confirm(id: pair, date: date) }
        return succeeded(reply)
      }
    } catch {
      let problem = PairingProblem(error)
      return loop.makeSucceededFuture(
        HTTPResponse(
          status: HTTPResponseStatus(statusCode: problem.status),
          headers: ["Content-Type": PairingProblem.contentType], body: problem.body))
    }
  }

  private func succeeded(_ reply: PairingReply) -> EventLoopFuture<HTTPResponse> {
    loop.makeSucceededFuture(
      HTTPResponse(
        status: .ok, headers: ["Content-Type": PairingMessages.contentType], body: PairingMessages.encode(reply)))
  }

  // MARK: - Sessions

  private func open() {
    hub.onEvent = { [unowned self] peer, event in handle(event, of: peer) }
    host = rooms.open(room: identity.id) { [unowned self] delivery in
      let pairs = pairs
      perform(
        sessions.receive(
          delivery,
          pairs: { id in
            pairs.records.first { $0.id == id }.map {
              PairedPeer(id: $0.id, publicKeySPKI: $0.publicKey, permissions: $0.permissions)
            }
          }, now: MonotonicClock.now))
    }
  }

  private func perform(_ actions: [PairedChildAction]) {
    for action in actions {
      switch action {
      case .send(let client, let message): host?.send(to: client.name, message: message)
      case .vouch(let client, let parent):
        host?.vouch(for: client.name, of: ConnectionCredential(id: parent, isParent: true, maximumConnections: 4))
      case .dismiss(let client): host?.dismiss(client.name, reason: "dismissed")
      case .refused(let client, let reason): host?.dismiss(client.name, reason: "\(reason)")
      case .offered(let offer): answer(offer)
      case .ended(let session, _):
        for (peer, known) in peers where known == session { hub.close(peer) }
      case .unpaired(let farewell):
        if storesRemovals { pairs.revoke(id: farewell.parent) }
        perform(sessions.answer(farewell, isStored: storesRemovals))
      case .addCandidate, .remoteCandidatesComplete, .restart: break
      }
    }
  }

  private func answer(_ offer: PairedOffer) {
    guard
      let (peer, answer) = try? hub.connect(
        offer: offer.description, configuration: PeerConnectionConfiguration(media: []), includingLoopback: true)
    else { return perform(sessions.end(offer.session, .notAcceptable)) }
    peers[peer] = offer.session
    perform(sessions.answer(offer.session, answer))
  }

  // MARK: - Commands

  private func handle(_ event: PeerConnectionEvent, of peer: PeerID) {
    switch event {
    case .dataChannelOpened(let id, let parameters, byPeer: true):
      guard parameters.label == ControlLimits.channelLabel, parameters.protocolName == ControlLimits.protocolName else {
        return
      }
      channels[peer] = id
      let hello = HelloDocument(
        name: "Nursery", id: identity.id, version: "test", capabilities: [], permissions: [], viewer: "1",
        state: StateDocument(lights: [light]), away: away)
      if isGreeting { say(.push(.hello(hello)), to: peer) }
    case .dataChannelMessage(let id, .text(let text)) where id == channels[peer]:
      if let request = try? ControlRequest(json: text), let id = request.id {
        carryOut(request.command, id: id, peer: peer)
      }
    default: break
    }
  }

  private func carryOut(_ command: any ControlCommand, id: String, peer: PeerID) {
    switch command {
    case let setting as LightSet:
      guard setting.id == nil || setting.id == light.id else {
        return say(.refusal(to: id, ControlError(.unavailable, "There is no such light.")), to: peer)
      }
      light.state = setting.state == .on || (setting.state == .toggle && light.state == .off) ? .on : .off
      say(.reply(to: id, ControlAnswer(LightSet.self, light)), to: peer)
      for other in channels.keys { say(.push(.state(StateDocument(lights: [light]))), to: other) }
    case is ScreenshotTake:
      let document = TransferDocument(
        transfer: 7, size: Self.picture.count, type: "image/jpeg", width: 640, height: 480)
      say(.reply(to: id, ControlAnswer(ScreenshotTake.self, document)), to: peer)
      for start in stride(from: 0, to: Self.picture.count, by: 16_000) {
        send(.binary([0, 0, 0, 7] + Self.picture[start..<min(Self.picture.count, start + 16_000)]), to: peer)
      }
    case is Ping: say(.reply(to: id, ControlAnswer(Ping.self, Ping.Reply(time: 1))), to: peer)
    // It never answers this one.
    case is TalkAcquire: break
    default: say(.reply(to: id, ControlAnswer(DrillStop.self, Done())), to: peer)
    }
  }

  private func say(_ content: ControlMessage.Content, to peer: PeerID) {
    send(.text(ControlMessage(id: "c1", content: content).json), to: peer)
  }

  private func send(_ message: DataChannelMessage, to peer: PeerID) {
    guard let channel = channels[peer] else { return }
    hub.with(peer) { connection, now in try? connection.send(message, on: channel, now: now) }
  }
}
