internal import Frames
internal import Meeting
internal import NIOCore
internal import Pairing
internal import Server
internal import Signaling
internal import Wire

/// Reaches a paired child, at its addresses and at its meeting places, as `LineRace` says. Confined to the event loop.
final class ChildConnector {
  enum Event {
    /// Begin there, with this session; nil: the one goes on for which the connector was made.
    case use(any RoomLink, PairedParentSession?)
    /// The line in use is of no use any more: say goodbye there, and close it.
    case retire
    /// At most once, when the child is at no meeting place while its addresses are still being tried; for a person.
    case notAtPlaces(String)
    /// For a person. The last event.
    case unreachable(String)
  }

  private let child: PairedChild
  /// The name of the client whose session goes on; nil: each line has a session of its own.
  private let client: String?
  private let first: ChildAddress?
  private let loop: any EventLoop
  private let notify: (Event) -> Void
  private let meetings: [MeetingPlace]
  private var race: LineRace
  private var direct: DirectConnector?
  /// The links that are being opened, by number of the place.
  private var links: [Int: MeetingLink] = [:]
  /// The open ones.
  private var lines: [LineRace.Line: any RoomLink] = [:]
  private var sessions: [LineRace.Line: PairedParentSession] = [:]
  private var isOver = false
  private lazy var timer = DeadlineTimer(on: loop, now: { MonotonicClock.now }) { [weak self] in
    self?.perform { $0.handleTimeout(now: $1) }
  }

  /// - Parameters:
  ///   - client: the name of the client of an open session that goes on; nil: each line begins a session.
  ///   - first: the address to try first.
  ///   - notify: called on the event loop, never from within `start`.
  init(
    _ child: PairedChild, client: String? = nil, first: ChildAddress? = nil, eventLoop: any EventLoop,
    notify: @escaping (Event) -> Void
  ) {
    self.child = child
    self.client = client
    self.first = first
    self.notify = notify
    loop = eventLoop
    meetings = child.away.meetings
    let now = MonotonicClock.now
    // Where it had to be met last time, from this very address, there is no use in waiting for its home to answer.
    let isProbablyAway =
      child.away.metFrom.map { LocalAddresses.current(includingLoopback: false).contains($0) } ?? false
    race = LineRace(
      places: meetings.count, demoted: child.away.demoted(now: now), isProbablyAway: isProbablyAway, now: now)
  }

  /// Once.
  func start() {
    perform { $0.start(now: $1) }
  }

  /// Gives up. No event follows, and the line in use stays open.
  func cancel() {
    isOver = true
    timer.cancel()
    direct?.cancel()
    direct = nil
    for link in links.values { link.close() }
    links = [:]
    for (line, open) in lines where line != race.current { open.close() }
    lines = [:]
    sessions = [:]
  }

  /// The line in use is of no use.
  func failed(_ failure: LineRace.Failure) {
    guard let line = race.current else { return }
    perform { $0.failed(line, failure, now: $1) }
  }

  /// The child has answered on the line in use.
  func answered() {
    race.answered(now: MonotonicClock.now)
    timer.set(race.nextDeadline)
  }

  /// The child has answered, and no path for media was found.
  ///
  /// - Returns: whether another line is tried.
  func hasNoMedia(because reason: String) -> Bool {
    var isTried = true
    perform { race, now in
      let actions = race.withoutMedia(reason, now: now)
      isTried = actions != nil
      return actions ?? []
    }
    return isTried
  }

  private func perform(_ change: (inout LineRace, Instant) -> [LineRace.Action]) {
    guard !isOver else { return }
    let before = race.current
    let actions = change(&race, MonotonicClock.now)
    for action in actions where !isOver {
      switch action {
      case .open(.own): openOwn()
      case .open(.place(let number)): meet(number)
      case .close(let line):
        if line == before, case .place(let number) = line { child.away.note(failedAt: meetings[number]) }
        sessions[line] = nil
        let open = lines.removeValue(forKey: line)
        if line == before { notify(.retire) } else { open?.close() }
      case .use(let line):
        guard let open = lines[line] else { continue }
        notify(.use(open, sessions.removeValue(forKey: line)))
      case .notMet(let said): notify(.notAtPlaces(said.map(text).joined(separator: "; ")))
      case .giveUp(let said):
        cancel()
        notify(.unreachable(said.map(text).joined(separator: "; at its meeting place ")))
      }
    }
    if !isOver { timer.set(race.nextDeadline) }
  }

  private func text(_ said: LineRace.Said) -> String {
    switch said.line {
    case .own: said.reason
    case .place(let number): "\(meetings[number]): \(said.reason)"
    }
  }

  private func makeSession(for line: LineRace.Line) -> String {
    if let client { return client }
    let session = child.makeSession()
    sessions[line] = session
    return session.client
  }

  // MARK: Its own addresses

  private func openOwn() {
    if let direct { return direct.goOn(because: race.said.first { $0.line == .own }?.reason ?? "it is of no use") }
    direct = DirectConnector(child, first: first, eventLoop: loop) { [weak self] outcome in self?.tried(outcome) }
  }

  private func tried(_ outcome: DirectConnector.Outcome) {
    switch outcome {
    case .connected(let link):
      _ = makeSession(for: .own)
      opened(.own, link)
    case .failed(let failure):
      direct = nil
      perform { $0.failed(.own, failure, now: $1) }
    }
  }

  // MARK: Meeting places

  private func meet(_ number: Int) {
    let place = meetings[number]
    let link = place.link(child: child.record.id, client: makeSession(for: .place(number)), eventLoop: loop)
    links[number] = link
    link.open { [weak self] failure in self?.tried(number, failure) }
  }

  private func tried(_ number: Int, _ failure: MeetingFailure?) {
    guard let link = links.removeValue(forKey: number) else { return }
    switch failure {
    case nil: opened(.place(number), link)
    case .absent: perform { $0.failed(.place(number), .absent("\(MeetingFailure.absent)"), now: $1) }
    case .unreachable(let reason): perform { $0.failed(.place(number), .useless(reason), now: $1) }
    }
  }

  private func opened(_ line: LineRace.Line, _ open: any RoomLink) {
    lines[line] = open
    // Until it is used.
    open.listen { _ in
    } end: { [weak self] end in
      self?.perform { $0.failed(line, .lost(end.reason ?? "the connection was lost"), now: $1) }
    }
    perform { $0.opened(line, now: $1) }
  }
}
