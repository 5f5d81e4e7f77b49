internal import Frames
internal import Messages
internal import NIOCore
internal import Server
internal import Signaling
internal import Wire

/// The line to a paired child through its room: a WebSocket, and what is said over it. Confined to the event loop.
final class RoomConnection {
  enum Event {
    /// Once, before any other.
    case connected(isLocal: Bool)
    case unreachable(String)
    /// Anything but what is to be sent, which is done here.
    case action(PairedParentAction)
  }

  let child: PairedChild
  private let loop: any EventLoop
  private let notify: (Event) -> Void
  private var session: PairedParentSession
  private var connector: RoomConnector?
  private var socket: WebSocketConnection?
  private var timer: Scheduled<Void>?
  /// Where the connection leads.
  private var address: ChildAddress?

  init(_ child: PairedChild, eventLoop: any EventLoop, notify: @escaping (Event) -> Void) {
    self.child = child
    loop = eventLoop
    self.notify = notify
    session = child.makeSession()
  }

  /// A session is open, and the child can be told something.
  var isUsable: Bool { session.isOpen && socket != nil }

  /// Connects. Once.
  func open() {
    connector = RoomConnector(child, eventLoop: loop) { [weak self] outcome in self?.connected(outcome) }
  }

  /// Says something, and does what comes of it.
  func perform(_ body: (inout PairedParentSession, Instant) -> [PairedParentAction]) {
    for action in body(&session, MonotonicClock.now) {
      if case .send(let request) = action {
        socket?.send(RoomMessages.text(request))
      } else {
        if case .answered = action { noteReached() }
        notify(.action(action))
      }
    }
    timer?.cancel()
    timer = session.nextDeadline.map { deadline in
      let bound = NIOLoopBound(self, eventLoop: loop)
      return loop.scheduleTask(in: .nanoseconds(max(0, (deadline - MonotonicClock.now).nanoseconds))) {
        bound.value.perform { $0.handleTimeout(now: $1) }
      }
    }
  }

  /// Hangs up. No event follows.
  func close() {
    connector?.cancel()
    connector = nil
    timer?.cancel()
    socket?.onClose = { _ in }
    socket?.onText = { _ in }
    socket?.close()
    socket = nil
  }

  /// The child has answered, signed: it is there. Before that anybody may be, and would be asked again and again.
  private func noteReached() {
    guard let address, let socket else { return }
    let (child, remote) = (child, socket.remoteAddress?.ip)
    // The disk may be slow, the loop may not.
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
        self?.socket = nil
        self?.perform { session, _ in session.connectionLost() }
      }
      self.address = address
      let remote = socket.remoteAddress?.ip
      notify(.connected(isLocal: address.isLoopback || remote?.isLoopback == true))
    }
  }
}
