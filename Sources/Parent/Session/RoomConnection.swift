internal import Frames
internal import Meeting
internal import NIOCore
internal import Server
internal import Signaling
internal import Wire

/// The signalling connection to a paired child: a line to its room, and the session over it. Until the session has media, it is
/// begun again over another line when one fails; when an open session loses its line, another one is made. Confined to the
/// event loop.
final class RoomConnection {
  enum Event {
    /// Begin a session now, once or again: what was begun before has ended.
    case connected(NetworkReach)
    /// Each line has failed; for a person. The last event.
    case unreachable(String)
    /// The child is at none of its meeting places; its own addresses are still being tried. For a person.
    case notMet(String)
    /// The other end closed the socket; an open session goes on without it.
    case detached
    /// Any action but `send`, which is carried out here.
    case action(PairedParentAction)
  }

  let child: PairedChild
  private let loop: any EventLoop
  private let notify: (Event) -> Void
  private var session: PairedParentSession
  private var connector: ChildConnector?
  private var line: RoomLine?
  /// The room knows us on `line`.
  private var isRegistered = false
  private lazy var timer = DeadlineTimer(on: loop, now: { MonotonicClock.now }) { [weak self] in
    self?.perform { $0.handleTimeout(now: $1) }
  }
  private var retry = RetryDelay()
  private var retryTimer: Scheduled<Void>?
  private var verification: Scheduled<Void>?
  /// Where the child was reached at an address of its own.
  private var address: ChildAddress?
  /// Where the child's media comes from since it has moved.
  private var moved: IPAddress?
  /// On a home's network an answer takes a fraction of this, even over bad Wi-Fi.
  private static let signOfLife: TimeAmount = .milliseconds(700)
  private static let settling: TimeAmount = .milliseconds(300)
  /// Mobile networks take their time after a change.
  private static let signOfLifeAfterChange: TimeAmount = .milliseconds(1000)

  init(_ child: PairedChild, eventLoop: any EventLoop, notify: @escaping (Event) -> Void) {
    self.child = child
    loop = eventLoop
    self.notify = notify
    session = child.makeSession()
  }

  /// Where the meeting place was reached; nil if that is not known.
  var placeAddress: IPAddress? { line?.placeAddress }

  /// A session is open and messages can be sent.
  var isUsable: Bool { session.isOpen && line != nil && isRegistered }

  /// Connects. Once.
  func open() {
    connector = ChildConnector(child, eventLoop: loop) { [weak self] event in self?.handle(event) }
    connector?.start()
  }

  /// The session has media: no other line is needed.
  func settle() {
    if let place = line?.place { child.away.note(workedAt: place) }
    connector?.cancel()
    connector = nil
  }

  /// The child has answered, and no path for media was found.
  ///
  /// - Returns: whether another line is tried; then the session has ended.
  func hasNoMedia(because reason: String) -> Bool {
    connector?.hasNoMedia(because: reason) ?? false
  }

  /// Changes the session, and carries out the actions that result.
  func perform(_ body: (inout PairedParentSession, Instant) -> [PairedParentAction]) {
    for action in body(&session, MonotonicClock.now) {
      switch action {
      case .send(let request):
        line?.send(request)
        continue
      // What is not signed may be the line's doing alone.
      case .failed(let error) where !error.isOfChild && connector != nil:
        connector?.failed(error == .connectionLost ? .lost("\(error)") : .useless("\(error)"))
        continue
      case .answered:
        noteReached()
        connector?.answered()
      case .replaced:
        isRegistered = true
      case .attached:
        isRegistered = true
        noteReached()
      case .restartFailed:
        leaveSilentPlace()
      default: break
      }
      notify(.action(action))
    }
    timer.set(session.nextDeadline)
  }

  /// Closes the connection. No event follows.
  func close() {
    connector?.cancel()
    connector = nil
    retryTimer?.cancel()
    verification?.cancel()
    timer.cancel()
    release()?.close()
  }

  /// A line from an address that is gone never hears of it: it is made anew at once, and so is an attempt that had begun
  /// before. Any other has to show that it lives: a VPN may let nothing pass beside it.
  func addressesChanged(_ own: Set<IPAddress>) {
    guard session.isOpen else { return }
    if let line {
      if let local = line.local, own.contains(local) { return verifyAfterChange() }
      lose()
    }
    reattach()
  }

  /// Routes and filters follow a new address a moment later.
  private func verifyAfterChange() {
    verification?.cancel()
    let bound = NIOLoopBound(self, eventLoop: loop)
    verification = loop.scheduleTask(in: Self.settling) {
      bound.value.line?.verifyConnection(within: Self.signOfLifeAfterChange)
    }
  }

  /// - Parameter remote: where the child's media comes from now; nil if nothing comes.
  func pathChanged(to remote: IPAddress?) {
    guard session.isOpen, let line, line.address != nil else { return }
    moved = remote ?? moved
    if remote != line.remote { line.verify(within: Self.signOfLife) }
  }

  /// Remembers the address once the child has sent a signed answer; before that it could be anybody.
  private func noteReached() {
    guard let line else { return }
    let child = child
    child.away.note(metFrom: line.address == nil ? line.local : nil)
    guard let address = line.address else { return child.away.writes.add { child.noteMet() } }
    let (remote, reach) = (line.remote, line.reach)
    child.away.writes.add { child.noteReached(at: address, remote: remote, reach: reach) }
  }

  private func handle(_ event: ChildConnector.Event) {
    switch event {
    case .use(let line, let fresh):
      if let fresh { session = fresh }
      use(line)
      isRegistered = true
      notify(.connected(line.reach))
    case .retire:
      let old = release()
      for case .send(let request) in session.leave() { old?.send(request) }
      old?.close()
      timer.cancel()
    case .notAtPlaces(let reason):
      notify(.notMet(reason))
    case .unreachable(let reason):
      connector = nil
      notify(.unreachable(reason))
    }
  }

  private func use(_ line: RoomLine) {
    self.line = line
    address = line.address ?? address
    line.onReply = { [weak self] reply in
      self?.perform { $0.receive(reply, now: $1) }
    }
    line.onClose = { [weak self] wasGivenUp, reason in
      guard let self else { return }
      if !session.isOpen, let connector {
        let known = reason.map { ": \($0)" } ?? ""
        return connector.failed(.lost("the connection was lost before the child had answered\(known)"))
      }
      lose()
      guard session.isOpen else { return }
      // One that was given up here says nothing of the child's program.
      if !wasGivenUp { notify(.detached) }
      scheduleReattaching()
    }
  }

  // MARK: Another connection

  /// The line is of no use any more; the session may go on.
  private func lose() {
    release()?.close(atOnce: true)
    perform { session, _ in session.connectionLost() }
  }

  private func release() -> RoomLine? {
    defer { line = nil }
    isRegistered = false
    return line
  }

  /// The place passes nothing on, in one of the directions. Others are tried before it.
  private func leaveSilentPlace() {
    guard session.isOpen, connector == nil, let place = line?.place else { return }
    child.away.note(failedAt: place)
    release()?.close()
    scheduleReattaching()
  }

  private func scheduleReattaching() {
    let delay = retry.next(now: MonotonicClock.now, jitter: .random(in: 0...1))
    retryTimer?.cancel()
    let bound = NIOLoopBound(self, eventLoop: loop)
    retryTimer = loop.scheduleTask(in: .nanoseconds(delay.nanoseconds)) { bound.value.reattach() }
  }

  private func reattach() {
    guard session.isOpen, line == nil else { return }
    retryTimer?.cancel()
    connector?.cancel()
    let here = moved.flatMap { ip in address.map { ChildAddress(host: .address(ip), port: $0.port) } }
    connector = ChildConnector(child, client: session.client, first: here, eventLoop: loop) { [weak self] event in
      self?.reattached(event)
    }
    connector?.start()
  }

  private func reattached(_ event: ChildConnector.Event) {
    switch event {
    case .unreachable:
      connector = nil
      if session.isOpen { scheduleReattaching() }
    case .use(let line, _):
      connector?.cancel()
      connector = nil
      guard session.isOpen else { return line.close() }
      use(line)
      perform { session, _ in session.reattach() }
    case .retire, .notAtPlaces: break
    }
  }
}
