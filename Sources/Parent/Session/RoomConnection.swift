internal import Frames
internal import Messages
internal import NIOCore
internal import Server
internal import Signaling
internal import Wire

/// The signalling connection to a paired child: a WebSocket to its room, and the session over it. When an open session loses
/// its WebSocket, another one is made. Confined to the event loop.
final class RoomConnection {
  enum Event {
    /// Once, before any other event.
    case connected(NetworkReach)
    case unreachable(String)
    /// The other end closed the socket; an open session goes on without it.
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
  /// The room knows us on `socket`.
  private var isRegistered = false
  private lazy var timer = DeadlineTimer(on: loop, now: { MonotonicClock.now }) { [weak self] in
    self?.perform { $0.handleTimeout(now: $1) }
  }
  private var retry = RetryDelay()
  private var retryTimer: Scheduled<Void>?
  /// Where the socket is connected to, or was last.
  private var address: ChildAddress?
  /// Where the child's media comes from since it has moved.
  private var moved: IPAddress?
  /// On a home's network an answer takes a fraction of this, even over bad Wi-Fi.
  private static let signOfLife: TimeAmount = .milliseconds(700)

  init(_ child: PairedChild, eventLoop: any EventLoop, notify: @escaping (Event) -> Void) {
    self.child = child
    loop = eventLoop
    self.notify = notify
    session = child.makeSession()
  }

  /// A session is open and messages can be sent.
  var isUsable: Bool { session.isOpen && socket != nil && isRegistered }

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
        if case .attached = action {
          isRegistered = true
          noteReached()
        }
        notify(.action(action))
      }
    }
    timer.set(session.nextDeadline)
  }

  /// Closes the connection. No event follows.
  func close() {
    connector?.cancel()
    connector = nil
    retryTimer?.cancel()
    timer.cancel()
    release()?.close()
  }

  /// A socket from an address that is gone never hears of it: it is made anew at once, and so is an attempt that had begun
  /// before.
  func addressesChanged(_ own: Set<IPAddress>) {
    guard session.isOpen else { return }
    if let local = socket?.localAddress?.ip {
      guard !own.contains(local) else { return }
      lose()
    }
    reattach()
  }

  /// - Parameter remote: where the child's media comes from now; nil if nothing comes.
  func pathChanged(to remote: IPAddress?) {
    guard session.isOpen, let socket else { return }
    moved = remote ?? moved
    if remote != socket.remoteAddress?.ip { socket.verify(within: Self.signOfLife) }
  }

  /// Remembers the address once the child has sent a signed answer; before that it could be anybody.
  private func noteReached() {
    guard let address, let socket else { return }
    let (child, remote) = (child, socket.remoteAddress?.ip)
    // Not on the event loop: the disk may be slow.
    let reach = reach(of: socket)
    Task { child.noteReached(at: address, remote: remote, reach: reach) }
  }

  private func connected(_ outcome: RoomConnector.Outcome) {
    connector = nil
    switch outcome {
    case .unreachable(let reason):
      notify(.unreachable(reason))
    case .connected(let socket, let address):
      use(socket, address)
      isRegistered = true
      notify(.connected(address.isLoopback ? .sameMachine : reach(of: socket)))
    }
  }

  private func reach(of socket: WebSocketConnection) -> NetworkReach {
    NetworkReach(local: socket.localAddress?.ip, remote: socket.remoteAddress?.ip)
  }

  private func use(_ socket: WebSocketConnection, _ address: ChildAddress) {
    self.socket = socket
    self.address = address
    socket.onText = { [weak self] text in
      guard let reply = try? RoomMessages.reply(text) else { return }
      self?.perform { $0.receive(reply, now: $1) }
    }
    socket.onClose = { [weak self] closure in
      guard let self else { return }
      lose()
      guard session.isOpen else { return }
      // One that was given up here says nothing of the child's program.
      if case .byUs = closure {} else { notify(.detached) }
      scheduleReattaching()
    }
  }

  // MARK: Another connection

  /// The socket is of no use any more; the session may go on.
  private func lose() {
    release()?.drop()
    perform { session, _ in session.connectionLost() }
  }

  private func release() -> WebSocketConnection? {
    defer { socket = nil }
    isRegistered = false
    socket?.onClose = { _ in }
    socket?.onText = { _ in }
    return socket
  }

  private func scheduleReattaching() {
    let delay = retry.next(now: MonotonicClock.now, jitter: .random(in: 0...1))
    retryTimer?.cancel()
    let bound = NIOLoopBound(self, eventLoop: loop)
    retryTimer = loop.scheduleTask(in: .nanoseconds(delay.nanoseconds)) { bound.value.reattach() }
  }

  private func reattach() {
    guard session.isOpen, socket == nil else { return }
    retryTimer?.cancel()
    connector?.cancel()
    let here = moved.flatMap { ip in address.map { ChildAddress(host: .address(ip), port: $0.port) } }
    connector = RoomConnector(child, first: here, eventLoop: loop) { [weak self] outcome in self?.reattached(outcome) }
  }

  private func reattached(_ outcome: RoomConnector.Outcome) {
    connector = nil
    guard session.isOpen else { return }
    switch outcome {
    case .unreachable:
      scheduleReattaching()
    case .connected(let socket, let address):
      use(socket, address)
      perform { session, _ in session.reattach() }
    }
  }
}
