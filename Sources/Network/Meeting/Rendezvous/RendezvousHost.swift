internal import Messages
public import NIOCore
internal import Server
internal import Signaling
public import Wire

/// The child at a `cradle-rendezvous`: the host of the room with the child's id. interfaces/wire.md, "Meeting places".
public final class RendezvousHost: MeetingHost {
  public var onEvent: (MeetingHostEvent) -> Void = { _ in }

  private enum State {
    case idle
    case connecting(WebSocketClient)
    /// Until the server has named its challenge.
    case registering(WebSocketConnection)
    /// Until it has accepted the proof: one is signed for each connection, whatever else it says.
    case proving(WebSocketConnection)
    case present(WebSocketConnection)
    case waiting(Scheduled<Void>)
    case closed

    var socket: WebSocketConnection? {
      switch self {
      case .registering(let socket), .proving(let socket), .present(let socket): socket
      case .idle, .connecting, .waiting, .closed: nil
      }
    }
  }

  private let place: RendezvousPlace
  private let child: String
  private let prove: (_ server: String, _ challenge: String) -> String
  private let loop: any EventLoop
  private var state: State = .idle
  private var presence = ""
  private var retry = MeetingRetry()
  private var patience: Scheduled<Void>?
  /// While we are there.
  private var presentSince: NIODeadline?

  /// Asks for a sign of life.
  private var pulse: Scheduled<Void>?

  /// A connection that lasted this long was a good one: a server that takes us and drops us is not asked each second.
  private static let settled: TimeAmount = .seconds(60)
  /// For `registered` and for `proved` together.
  private static let limit: TimeAmount = .seconds(10)
  /// Two packets a minute are enough to keep a router's entry (RFC 5382 asks for two hours, some forget after five
  /// minutes), and to find out that a router has forgotten it all. Whoever comes to meet the child makes the server look
  /// after it.
  private static let interval: TimeAmount = .seconds(120)
  private static let patienceAfterChange: TimeAmount = .seconds(3)
  /// Mobile networks take up to two seconds.
  private static let patienceForPulse: TimeAmount = .seconds(8)

  /// - Parameters:
  ///   - child: the child's id.
  ///   - prove: signs the proof for a server's name and challenge (`HostProof`).
  public init(
    _ place: RendezvousPlace, child: String, eventLoop: any EventLoop,
    prove: @escaping (_ server: String, _ challenge: String) -> String
  ) {
    self.place = place
    self.child = child
    self.prove = prove
    loop = eventLoop
  }

  public func open(presence: String) {
    self.presence = presence
    connect()
  }

  public func announce(presence: String) {
    self.presence = presence
    if case .present(let socket) = state { socket.send(RoomMessages.text(.announce(presence: presence))) }
  }

  public func send(to client: String, message: String) {
    command(.send(to: client, message: message))
  }

  public func vouch(for client: String, lifetime: Duration?) {
    command(.vouch(client: client, lifetime: lifetime))
  }

  public func dismiss(_ client: String, reason: String) {
    command(.dismiss(client: client, reason: reason))
  }

  public func addressesChanged(_ own: Set<IPAddress>) {
    switch state {
    case .registering(let socket), .proving(let socket), .present(let socket):
      if let local = socket.localAddress?.ip, !own.contains(local) {
        let wasPresent = if case .present = state { true } else { false }
        again(at: .zero)
        if wasPresent { onEvent(.moved) }
        return
      }
      socket.verify(within: Self.patienceAfterChange)
    case .connecting(let client):
      client.cancel()
      again(at: .zero)
    case .waiting:
      // What has failed without a network may work with one.
      if !own.isEmpty { again(at: .seconds(1)) }
    case .idle, .closed: break
    }
  }

  public func verify() {
    switch state {
    case .registering(let socket), .proving(let socket), .present(let socket):
      socket.verify(within: Self.patienceAfterChange)
    case .waiting: again(at: .zero)
    case .idle, .connecting, .closed: break
    }
  }

  public func close(then done: @escaping () -> Void) {
    patience?.cancel()
    pulse?.cancel()
    switch state {
    case .connecting(let client): client.cancel()
    case .waiting(let retry): retry.cancel()
    case .registering(let socket), .proving(let socket), .present(let socket):
      socket.onText = { _ in }
      let bound = NIOLoopBound(done, eventLoop: loop)
      socket.onClose = { _ in bound.value() }
      state = .closed
      socket.close(.goingAway)
      return
    case .idle, .closed: break
    }
    state = .closed
    let bound = NIOLoopBound(done, eventLoop: loop)
    loop.execute { bound.value() }
  }

  private func command(_ request: RoomRequest) {
    if case .present(let socket) = state { socket.send(RoomMessages.text(request)) }
  }

  // MARK: - The connection

  private func connect() {
    guard case .idle = state else { return }
    do {
      let client = try WebSocketClient(place, limits: RendezvousPlace.hostLimits, eventLoop: loop)
      state = .connecting(client)
      client.connect { [weak self] result in self?.connected(result) }
    } catch {
      fail("\(error)")
    }
  }

  private func connected(_ result: Result<WebSocketConnection, WebSocketClientError>) {
    switch result {
    case .failure(let error):
      fail("\(error)")
    case .success(let socket):
      state = .registering(socket)
      socket.onText = { [weak self] text in self?.receive(text, on: socket) }
      socket.onClose = { [weak self] closure in self?.fail(closure.words) }
      socket.send(RoomMessages.text(.register(room: child, client: child)))
      let bound = NIOLoopBound(self, eventLoop: loop)
      patience = loop.scheduleTask(in: Self.limit) { bound.value.fail("it does not answer") }
    }
  }

  private func receive(_ text: String, on socket: WebSocketConnection) {
    // What a later version says is left out.
    guard let reply = try? RoomMessages.reply(text) else { return }
    switch (reply, state) {
    case (.registered(let registration), .registering):
      guard let server = place.serverName, SignedMessage.isChallenge(registration.challenge) else { return }
      state = .proving(socket)
      let proof = prove(server, registration.challenge)
      socket.send(RoomMessages.text(.prove(proof: proof, presence: presence)))
    case (.proved(let servers), .proving):
      patience?.cancel()
      state = .present(socket)
      presentSince = .now()
      beat()
      onEvent(.present)
      if !servers.isEmpty { onEvent(.iceServers(servers, place: socket.remoteAddress?.ip)) }
    case (.proved(let servers), .present):
      onEvent(.iceServers(servers, place: socket.remoteAddress?.ip))
    case (.message(let delivery), .present):
      onEvent(.message(from: delivery.from, delivery.message))
    case (.error(let error), .registering), (.error(let error), .proving):
      fail("\(error)")
    case (.error, _), (.registered, _), (.proved, _), (.message, _), (.presence, _), (.vouched, _):
      // Errors of a present host concern clients that have just left; a close follows those that do not.
      break
    }
  }

  private func beat() {
    pulse?.cancel()
    let bound = NIOLoopBound(self, eventLoop: loop)
    pulse = loop.scheduleTask(in: Self.interval) {
      guard case .present(let socket) = bound.value.state else { return }
      socket.verify(within: Self.patienceForPulse)
      bound.value.beat()
    }
  }

  /// Tries again later.
  private func fail(_ reason: String) {
    if case .closed = state { return }
    if let presentSince, .now() - presentSince > Self.settled { retry.succeeded() }
    again(at: .nanoseconds(retry.next(jitter: .random(in: 0...1)).nanoseconds))
    onEvent(.absent(reason: reason))
  }

  /// Gives up what there is and connects anew.
  private func again(at delay: TimeAmount) {
    patience?.cancel()
    pulse?.cancel()
    presentSince = nil
    if case .waiting(let retry) = state { retry.cancel() }
    if let socket = state.socket {
      socket.onText = { _ in }
      socket.onClose = { _ in }
      socket.drop()
    }
    let bound = NIOLoopBound(self, eventLoop: loop)
    state = .waiting(
      loop.scheduleTask(in: delay) {
        bound.value.state = .idle
        bound.value.connect()
      })
  }
}
