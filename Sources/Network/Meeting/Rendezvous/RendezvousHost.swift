internal import NIOCore
internal import Server
internal import Signaling
internal import Wire

/// The child at a `cradle-rendezvous`: the host of the room with the child's id. interfaces/wire.md, "Meeting places".
final class RendezvousHost: MeetingHostTransport {
  private enum State {
    case idle
    case connecting(WebSocketClient)
    case connected(WebSocketConnection)
    /// Until the server has named its challenge.
    case registering(WebSocketConnection)
    /// Until it has accepted the proof: one is signed for each connection, whatever else it says.
    case proving(WebSocketConnection)
    case present(WebSocketConnection)

    var socket: WebSocketConnection? {
      switch self {
      case .connected(let socket), .registering(let socket), .proving(let socket), .present(let socket): socket
      case .idle, .connecting: nil
      }
    }
  }

  private let place: RendezvousPlace
  private let child: String
  private let prove: (_ server: String, _ challenge: String) -> String
  private let loop: any EventLoop
  private var state: State = .idle
  private var presence = ""
  private var report: (MeetingHostMachine.Input) -> Void = { _ in }

  /// - Parameter prove: signs the proof for a server's name and challenge (`HostProof`).
  init(
    _ place: RendezvousPlace, child: String, eventLoop: any EventLoop,
    prove: @escaping (_ server: String, _ challenge: String) -> String
  ) {
    self.place = place
    self.child = child
    self.prove = prove
    loop = eventLoop
  }

  func connect(report: @escaping (MeetingHostMachine.Input) -> Void) {
    self.report = report
    do {
      let client = try WebSocketClient(place, limits: RendezvousPlace.hostLimits, eventLoop: loop)
      state = .connecting(client)
      client.connect { [weak self] result in self?.connected(result) }
    } catch {
      report(.lost("\(error)"))
    }
  }

  func send(_ request: RoomRequest) {
    if case .announce(let presence) = request { self.presence = presence }
    switch state {
    case .connected(let socket):
      state = .registering(socket)
      say(.register(room: child, client: child))
    case .present: say(request)
    // The presence goes with the proof.
    case .idle, .connecting, .registering, .proving: break
    }
  }

  func verify(within limit: TimeAmount) -> Bool {
    state.socket?.verify(within: limit)
    return true
  }

  func isGone(_ own: Set<IPAddress>) -> Bool? {
    if case .connecting = state { return true }
    return state.socket?.localAddress.map { !own.contains($0.ip) } ?? false
  }

  func drop() {
    if case .connecting(let client) = state { client.cancel() }
    if let socket = state.socket {
      socket.onText = { _ in }
      socket.onClose = { _ in }
      socket.drop()
    }
    state = .idle
  }

  func leave(then done: @escaping () -> Void) {
    let bound = NIOLoopBound(done, eventLoop: loop)
    guard let socket = state.socket else {
      drop()
      return loop.execute { bound.value() }
    }
    socket.onText = { _ in }
    socket.onClose = { _ in bound.value() }
    socket.close(.goingAway)
  }

  private func say(_ request: RoomRequest) {
    state.socket?.send(RoomMessages.text(request))
  }

  private func connected(_ result: Result<WebSocketConnection, WebSocketClientError>) {
    state = .idle
    switch result {
    case .failure(let error): report(.lost("\(error)"))
    case .success(let socket):
      state = .connected(socket)
      socket.onText = { [weak self] text in self?.receive(text, on: socket) }
      socket.onClose = { [weak self] closure in self?.report(.lost(closure.words)) }
      report(.connected)
    }
  }

  private func receive(_ text: String, on socket: WebSocketConnection) {
    // What a later version says is left out.
    guard let reply = try? RoomMessages.reply(text) else { return }
    switch (reply, state) {
    case (.registered(let registration), .registering):
      guard let server = place.serverName, SignedMessage.isChallenge(registration.challenge) else { return }
      state = .proving(socket)
      say(.prove(proof: prove(server, registration.challenge), presence: presence))
    case (.proved(let servers), .proving):
      state = .present(socket)
      report(.present)
      if !servers.isEmpty { report(.iceServers(servers, place: socket.remoteAddress?.ip)) }
    case (.proved(let servers), .present):
      report(.iceServers(servers, place: socket.remoteAddress?.ip))
    case (.message(let delivery), .present):
      report(.message(from: delivery.from, delivery.message))
    case (.error(let error), .registering), (.error(let error), .proving):
      report(.lost("\(error)"))
    case (.error, _), (.registered, _), (.proved, _), (.message, _), (.presence, _), (.vouched, _):
      // Errors of a present host concern clients that have just left; a close follows those that do not.
      break
    }
  }
}
