internal import Control
internal import Frames
internal import Meeting
internal import NIOCore
internal import PeerConnection
internal import SDP
internal import Server
internal import Signaling
internal import TURN
internal import Wire

/// Signalling with a paired child through its room: no token, both sides know each other by their keys. A session goes over one
/// link at a time. Until it has media, it is begun again over another link when one fails; when an open session loses its link,
/// another one is made. Confined to the event loop.
final class RoomSignaling: SessionSignaling {
  var notify: (SignalingEvent) -> Void = { _ in }
  private let child: PairedChild
  private let loop: any EventLoop
  private var purpose = Purpose.none
  private var session: PairedParentSession
  private var connector: ChildConnector?
  private var link: (any RoomLink)?
  /// The room knows us on `link`.
  private var isRegistered = false
  private var isOver = false
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

  private enum Purpose {
    case none
    /// Makes the offer.
    case session((NetworkReach) -> SessionDescription?)
    case unpairing(((any Error)?) -> Void)
  }

  /// On a home's network an answer takes a fraction of this, even over bad Wi-Fi.
  private static let signOfLife: TimeAmount = .milliseconds(700)
  private static let settling: TimeAmount = .milliseconds(300)
  /// Mobile networks take their time after a change.
  private static let signOfLifeAfterChange: TimeAmount = .milliseconds(1000)

  init(_ child: PairedChild, eventLoop: any EventLoop) {
    self.child = child
    loop = eventLoop
    session = child.makeSession()
  }

  /// A session is open and messages can be sent.
  var canRestart: Bool { session.isOpen && link != nil && isRegistered }
  var reportsReasons: Bool { canRestart }
  var servers: [ICEServer] { child.away.servers }

  func start(makeOffer: @escaping (_ reach: NetworkReach) -> SessionDescription?) {
    open(.session(makeOffer))
  }

  /// Instead of `start`: only notifies the child that the pairing has ended here. `done` is called once, with why the child could not
  /// be notified, or could not store it.
  func unpair(then done: @escaping ((any Error)?) -> Void) {
    open(.unpairing(done))
  }

  private func open(_ purpose: Purpose) {
    self.purpose = purpose
    connect(client: nil, first: nil) { [weak self] event in self?.handle(event) }
  }

  func settle() {
    if let place = link?.meetingPlace { child.away.note(workedAt: place) }
    stopConnecting()
  }

  func hasNoMedia(because reason: String) -> Bool {
    connector?.hasNoMedia(because: reason) ?? false
  }

  func restartICE(_ ours: RestartedICE) {
    // All sections share one transport, so the candidates may be listed under any of them.
    let section = TrickleFragment.Section(mid: "0", candidates: ours.candidates, endOfCandidates: ours.isComplete)
    let fragment = TrickleFragment(ufrag: ours.ufrag, pwd: ours.pwd, sections: [section])
    perform { $0.restartICE(fragment, now: $1) }
  }

  func addLocalCandidate(_ candidate: String?) {
    perform { session, _ in
      candidate.map { session.addLocalCandidate($0, sdpMid: "0") } ?? session.endOfLocalCandidates()
    }
  }

  func follow(_ away: AwayDocument) {
    child.away.follow(away)
  }

  /// A link from an address that is gone never hears of it: another one is made at once, and so is an attempt that had begun
  /// before. Any other has to show that it lives: a VPN may let nothing pass beside it.
  func addressesChanged(_ own: Set<IPAddress>) {
    guard session.isOpen else { return }
    if let link {
      if let local = link.localAddress, own.contains(local) { return verifyAfterChange() }
      lose()
    }
    reattach()
  }

  /// Routes and filters follow a new address a moment later.
  private func verifyAfterChange() {
    verification?.cancel()
    let bound = NIOLoopBound(self, eventLoop: loop)
    verification = loop.scheduleTask(in: Self.settling) {
      bound.value.link?.verify(within: Self.signOfLifeAfterChange)
    }
  }

  func pathChanged(to remote: IPAddress?) {
    guard session.isOpen, let link, link.address != nil else { return }
    moved = remote ?? moved
    if remote != link.remoteAddress { link.verify(within: Self.signOfLife) }
  }

  func leave(then: @escaping () -> Void) {
    notify = { _ in }
    perform { session, _ in session.leave() }
    close()
    then()
  }

  /// Closes the link. No event follows.
  func close() {
    isOver = true
    purpose = .none
    stopConnecting()
    retryTimer?.cancel()
    verification?.cancel()
    timer.cancel()
    release()?.close()
  }

  // MARK: The session

  /// Changes the session, and carries out the actions that result.
  private func perform(_ body: (inout PairedParentSession, Instant) -> [PairedParentAction]) {
    guard !isOver else { return }
    for action in body(&session, MonotonicClock.now) { carryOut(action) }
    if !isOver { timer.set(session.nextDeadline) }
  }

  private func carryOut(_ action: PairedParentAction) {
    switch action {
    case .send(let request): link?.send(request)
    case .answered(let answer):
      noteReached()
      connector?.answered()
      notify(.answered(answer))
    case .attached:
      isRegistered = true
      noteReached()
      notify(.attached)
    case .replaced:
      isRegistered = true
      notify(.detached)
    case .addCandidate(let candidate, sdpMid: _): notify(.candidates([candidate], isComplete: false))
    case .remoteCandidatesComplete: notify(.candidates([], isComplete: true))
    case .restarted(let theirs):
      guard let ufrag = theirs.ufrag, let pwd = theirs.pwd else { return }
      notify(.restarted(ufrag: ufrag, pwd: pwd, candidates: theirs.candidates))
    case .restartFailed: leaveSilentPlace()
    // What is not signed may be the link's doing alone.
    case .failed(let error) where !error.isOfChild && connector != nil:
      connector?.failed(error == .connectionLost ? .lost("\(error)") : .useless("\(error)"))
    case .failed(.dismissed(.notPaired)): end(.unpaired, nil)
    case .failed(let error): end(SessionEnd(error), ParentError("\(error)"))
    case .ended(let reason):
      end(SessionEnd(reason), reason == .notStored ? UnpairingCall.NotStored() : nil)
    case .iceServers(let servers): notify(.servers(servers.compactMap(lent)))
    // Forged messages change nothing. If no other message arrives, the time-out error mentions them.
    case .refused: break
    }
  }

  private func lent(_ server: ICEServerDocument) -> ICEServer? {
    ICEServer(server, lender: LendingPlace(address: link?.meetingPlace == nil ? nil : link?.remoteAddress))
  }

  /// - Parameter failure: of unpairing; nil: the child knows.
  private func end(_ end: SessionEnd, _ failure: (any Error)?) {
    let purpose = purpose
    close()
    if case .unpairing(let done) = purpose { done(failure) } else { notify(.over(end)) }
  }

  /// Remembers the address once the child has sent a signed answer; before that it could be anybody.
  private func noteReached() {
    guard let link else { return }
    let child = child
    child.away.note(metFrom: link.address == nil ? link.localAddress : nil)
    guard let address = link.address else { return child.away.writes.add { child.noteMet() } }
    let (remote, reach) = (link.remoteAddress, link.reach)
    child.away.writes.add { child.noteReached(at: address, remote: remote, reach: reach) }
  }

  // MARK: The link

  private func connect(client: String?, first: ChildAddress?, _ handle: @escaping (ChildConnector.Event) -> Void) {
    let connector = ChildConnector(child, client: client, first: first, eventLoop: loop, notify: handle)
    self.connector = connector
    connector.start()
  }

  private func stopConnecting() {
    connector?.cancel()
    connector = nil
  }

  private func handle(_ event: ChildConnector.Event) {
    switch event {
    case .use(let link, let fresh):
      if let fresh { session = fresh }
      use(link)
      isRegistered = true
      begin(link.reach)
    case .retire:
      let old = release()
      for case .send(let request) in session.leave() { old?.send(request) }
      old?.close()
      timer.cancel()
    case .notAtPlaces(let reason):
      notify(.searching(reason))
    case .unreachable(let reason):
      connector = nil
      end(.lost(reason), ParentError(reason))
    }
  }

  private func begin(_ reach: NetworkReach) {
    switch purpose {
    case .session(let makeOffer):
      guard let offer = makeOffer(reach) else { return }
      perform { $0.start(offer: offer, now: $1) }
    case .unpairing: perform { $0.sayFarewell(.notPaired, now: $1) }
    case .none: break
    }
  }

  private func use(_ link: any RoomLink) {
    self.link = link
    address = link.address ?? address
    link.listen { [weak self] reply in
      self?.perform { $0.receive(reply, now: $1) }
    } end: { [weak self] end in
      self?.ended(end)
    }
  }

  private func ended(_ end: RoomLinkEnd) {
    if !session.isOpen, let connector {
      let known = end.reason.map { ": \($0)" } ?? ""
      return connector.failed(.lost("the connection was lost before the child had answered\(known)"))
    }
    lose()
    guard session.isOpen, !isOver else { return }
    if end == .byChild { notify(.detached) }
    scheduleReattaching()
  }

  /// The link is of no use any more; the session may go on.
  private func lose() {
    release()?.close(atOnce: true)
    perform { session, _ in session.connectionLost() }
  }

  private func release() -> (any RoomLink)? {
    defer { link = nil }
    isRegistered = false
    return link
  }

  /// The place passes nothing on, in one of the directions. Others are tried before it.
  private func leaveSilentPlace() {
    guard session.isOpen, connector == nil, let place = link?.meetingPlace else { return }
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
    guard session.isOpen, link == nil, !isOver else { return }
    retryTimer?.cancel()
    stopConnecting()
    let here = moved.flatMap { ip in address.map { ChildAddress(host: .address(ip), port: $0.port) } }
    connect(client: session.client, first: here) { [weak self] event in self?.reattached(event) }
  }

  private func reattached(_ event: ChildConnector.Event) {
    switch event {
    case .unreachable:
      connector = nil
      if session.isOpen { scheduleReattaching() }
    case .use(let link, _):
      stopConnecting()
      guard session.isOpen else { return link.close() }
      use(link)
      perform { session, _ in session.reattach() }
    case .retire, .notAtPlaces: break
    }
  }
}

extension SessionEnd {
  init(_ error: PairedSessionError) {
    switch error {
    case .dismissed(let reason): self.init(reason)
    case .room, .connectionLost, .absent, .noPresence, .timedOut: self = .lost("\(error)")
    }
  }

  init(_ reason: ByeReason) {
    switch reason {
    case .notPaired: self = .unpaired
    case .expired: self = .refused("the pairing has expired; pair again with `cradle-parent pair`")
    case .notAcceptable: self = .refused("\(PairedSessionError.dismissed(reason))")
    case .left, .busy, .notStored: self = .lost("\(PairedSessionError.dismissed(reason))")
    case .goingAway: self = .stopped("\(PairedSessionError.dismissed(reason))")
    }
  }
}
