internal import Frames
internal import Messages
internal import NIOCore
internal import Server
internal import Signaling
internal import Wire

/// The signalling connection to a paired child: a WebSocket to its room, and the session over it. Confined to the event
/// loop.
final class RoomConnection {
  enum Event {
    /// Once, before any other event.
    case connected(isLocal: Bool)
    case unreachable(String)
    /// The socket was closed; an open session goes on without it.
    case detached
    /// Any action but `send`, which is carried out here.
    case action(PairedParentAction)
  }

  let child: PairedChild
  private let loop: any EventLoop
  private let notify: (Event) -> Void
  private var session: PairedParentSession
  private var connector: RoomConnector?
  private var socket: WebSocketConnection?
  private lazy var timer = DeadlineTimer(on: loop, now: { MonotonicClock.now }) { [weak self] in
    self?.perform { $0.handleTimeout(now: $1) }
  }
  /// Where the socket is connected to.
  private var address: ChildAddress?

  init(_ child: PairedChild, eventLoop: any EventLoop, notify: @escaping (Event) -> Void) {
    self.child = child
    loop = eventLoop
    self.notify = notify
    session = child.makeSession()
  }

  /// A session is open and messages can be sent.
  var isUsable: Bool { session.isOpen && socket != nil }

  /// Connects. Once.
  func open() {
    connector = RoomConnector(child, eventLoop: loop) { [weak self] outcome in self?.connected(outcome) }
  }

  /// Changes the session, and carries out the actions that result.
  func perform(_ body: (inout PairedParentSession, Instant) -> [PairedParentAction]) {
    for action in body(&session, MonotonicClock.now) {
      if case .send(let request) = action {
        socket?.send(RoomMessages.text(request))
      } else {
        if case .answered = action { noteReached() }
        notify(.action(action))
      }
    }
    timer.set(session.nextDeadline)
  }

  /// Closes the connection. No event follows.
  func close() {
    connector?.cancel()
    connector = nil
    timer.cancel()
    socket?.onClose = { _ in }
    socket?.onText = { _ in }
    socket?.close()
    socket = nil
  }

  /// Remembers the address once the child has sent a signed answer; before that it could be anybody.
  private func noteReached() {
    guard let address, let socket else { return }
    let (child, remote) = (child, socket.remoteAddress?.ip)
    // Not on the event loop: the disk may be slow.
    Task { child.noteReached(at: address, remote: remote) }
  }

  private func connected(_ outcome: RoomConnector.Outcome) {
    connector = nil
    switch outcome {
    case .unreachable(let reason):
      notify(.unreachable(reason))
    case .connected(let socket, let address):
      self.socket = socket
      socket.onText = { [weak self] text in
        guard let reply = try? RoomMessages.reply(text) else { return }
        self?.perform { $0.receive(reply, now: $1) }
      }
      socket.onClose = { [weak self] _ in
        guard let self else { return }
        self.socket = nil
        perform { session, _ in session.connectionLost() }
        if session.isOpen { notify(.detached) }
      }
      self.address = address
      let remote = socket.remoteAddress?.ip
      notify(.connected(isLocal: address.isLoopback || remote?.isLoopback == true))
    }
  }
}
