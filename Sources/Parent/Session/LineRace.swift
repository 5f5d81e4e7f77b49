internal import Wire

/// Which line to a child's room a session uses: one to the child's own addresses, or one of its meeting places. The first that is
/// open is used; who opens it proves nothing by that. So the others stay in the race until the session has media: when the
/// line in use fails, or nothing signed comes from the child, the next one is used. It is given up when all have been tried.
///
/// A core: the time is passed in, and `nextDeadline` says when `handleTimeout` is due.
struct LineRace: Sendable {
  enum Line: Hashable, Sendable {
    /// The child's own addresses, of which the best that is left counts.
    case own
    /// A meeting place, by its number.
    case place(Int)
  }

  /// What was said of a line, for a person.
  struct Said: Hashable, Sendable {
    var line: Line
    var reason: String
  }

  enum Action: Hashable, Sendable {
    /// `opened` or `failed` follows. Own addresses that have been used are left out.
    case open(Line)
    /// Begin a session there. The line that was used before, if any, has been closed.
    case use(Line)
    /// It is of no use any more.
    case close(Line)
    /// The child is at no meeting place, while its own addresses are still being tried; what each place said.
    case notMet([Said])
    /// All have failed. The last action; what was said of each, the own addresses first.
    case giveUp([Said])
  }

  enum Failure: Hashable, Sendable {
    /// It cannot be used: unreachable, or what it says is wrong. Also when no own address is left.
    case useless(String)
    /// A meeting place works, and the child is not there.
    case absent(String)
    /// It was used, and went away before the child had answered; or something took the connection to an own address and did
    /// not keep it. The child may be busy.
    case lost(String)

    var text: String {
      switch self {
      case .useless(let text), .absent(let text), .lost(let text): text
      }
    }
  }

  private enum State: Hashable {
    case idle
    case opening
    /// Opened again then.
    case resting(until: Instant)
    case ready(number: Int)
    case used(since: Instant)
    case over
  }

  /// At home an answer takes a fraction of this, and nobody outside is asked.
  static let headStart: Duration = .milliseconds(300)
  /// Without an answer, before another meeting place that is open is used.
  static let patience: Duration = .seconds(3)
  /// As `patience`, for one of the child's own addresses.
  static let patienceForOwn: Duration = .seconds(1)
  /// From the answer to media: many paths may have to be checked.
  static let patienceForMedia: Duration = .seconds(8)
  /// How long places that have failed lately leave the way to own addresses alone; to other places, `patience`.
  static let hold: Duration = .seconds(1)
  /// Before a line is opened again; in each further round twice as long, as who is busy has no use for being asked.
  static let pause: Duration = .seconds(1)
  static let mostRounds = 4
  /// No further round begins later: somebody waits.
  static let limit: Duration = .seconds(15)

  private let places: Range<Int>
  private let demoted: Set<Int>
  private let began: Instant
  private let placesBegin: Instant
  private var states: [Line: State] = [:]
  private var reasons: [Line: String] = [:]
  private var absences: [Line: Int] = [:]
  /// The child has answered on the line in use.
  private var isAnswered = false
  private var opened = 0
  /// Silent ones that had to make way for another, and those that were lost: they get another chance when all have failed.
  private var again: Set<Line> = []
  private var rounds = 1
  private var hasReported = false
  private var isOver = false

  /// - Parameters:
  ///   - places: how many meeting places there are.
  ///   - demoted: those that have failed lately; they come last.
  ///   - isProbablyAway: nothing is gained by waiting for its home to answer.
  init(places: Int, demoted: Set<Int> = [], isProbablyAway: Bool = false, now: Instant) {
    self.places = 0..<places
    self.demoted = demoted
    began = now
    placesBegin = isProbablyAway ? now : now + Self.headStart
    states[.own] = .idle
    for place in self.places { states[.place(place)] = .idle }
  }

  /// The line in use.
  var current: Line? {
    states.first { if case .used = $0.value { true } else { false } }?.key
  }

  /// What was said last of each line that has failed.
  var said: [Said] { lines.compactMap { line in reasons[line].map { Said(line: line, reason: $0) } } }

  var nextDeadline: Instant? {
    guard !isOver else { return nil }
    var deadlines = states.values.compactMap { state in if case .resting(let until) = state { until } else { nil } }
    if states.contains(where: { $0.key != .own && $0.value == .idle }) { deadlines.append(placesBegin) }
    let ready = readyLines
    if let line = current, case .used(let since) = states[line] {
      if let next = ready.first { deadlines.append(since + patience(of: line, before: next)) }
    } else if let line = ready.first, case .place = line {
      deadlines.append(began + (isWaitedFor(places: true) ? Self.patience : Self.hold))
    }
    return deadlines.min()
  }

  // MARK: - Calls

  /// Begins. Once.
  mutating func start(now: Instant) -> [Action] {
    states[.own] = .opening
    return [.open(.own)] + advance(now)
  }

  mutating func opened(_ line: Line, now: Instant) -> [Action] {
    guard states[line] == .opening, !isOver else { return [] }
    opened += 1
    states[line] = .ready(number: opened)
    return advance(now)
  }

  /// Also one that was ready or in use.
  mutating func failed(_ line: Line, _ failure: Failure, now: Instant) -> [Action] {
    guard let state = states[line], !isOver else { return [] }
    switch state {
    case .idle, .resting, .over: return []
    case .opening:
      reasons[line] = failure.text
      states[line] = .over
      if line == .own { stopAsking() }
      if case .lost = failure { again.insert(line) }
      if case .absent = failure, line != .own { rest(line, now) }
      return reportAbsence() + advance(now)
    case .ready, .used:
      if case .lost = failure { again.insert(line) } else { again.remove(line) }
      return leave(line, failure.text) + advance(now)
    }
  }

  /// The child has answered on the line in use, and no path for media was found. Its other own addresses would be no better.
  ///
  /// - Returns: nil if there is no other line.
  mutating func withoutMedia(_ reason: String, now: Instant) -> [Action]? {
    guard !isOver, let line = current else { return nil }
    let others = states.filter { $0.key != line && $0.value != .over }
    guard !others.isEmpty else { return nil }
    isAnswered = true
    return leave(line, reason) + advance(now)
  }

  /// The child has answered on the line in use.
  mutating func answered(now: Instant) {
    guard let line = current else { return }
    isAnswered = true
    states[line] = .used(since: now)
  }

  mutating func handleTimeout(now: Instant) -> [Action] {
    isOver ? [] : advance(now)
  }

  // MARK: - Helpers

  private mutating func advance(_ now: Instant) -> [Action] {
    var actions: [Action] = []
    let isDue = now >= placesBegin || states[.own] == .over
    for line in lines {
      switch states[line] {
      case .idle where isDue && line != .own: break
      case .resting(let until) where until <= now: break
      default: continue
      }
      states[line] = .opening
      actions.append(.open(line))
    }
    if let line = current, case .used(let since) = states[line], let next = readyLines.first,
      now >= since + patience(of: line, before: next)
    {
      again.insert(line)
      actions += leave(line, isAnswered ? "no path for picture and sound was found" : "no answer in time")
    }
    if current == nil, let next = readyLines.first(where: { mayUse($0, now) }) {
      isAnswered = false
      states[next] = .used(since: now)
      actions.append(.use(next))
    }
    if states.values.allSatisfy({ $0 == .over }) { actions += conclude(now) }
    return actions
  }

  /// The own addresses first, then places.
  private var lines: [Line] { [.own] + places.map(Line.place) }

  /// The next one to use first: own, then those that were open first, those that failed lately last.
  private var readyLines: [Line] {
    func rank(_ line: Line) -> (Int, Int) {
      guard case .ready(let number) = states[line] else { return (3, 0) }
      return switch line {
      case .own: (0, number)
      case .place(let place): (demoted.contains(place) ? 2 : 1, number)
      }
    }
    return lines.filter { rank($0).0 < 3 }.sorted { rank($0) < rank($1) }
  }

  private func patience(of line: Line, before next: Line) -> Duration {
    if isAnswered { return Self.patienceForMedia }
    // Its second chance is a full one; the session has a limit of its own.
    if rounds > 1, again.contains(line) { return Self.limit }
    return next == .own ? Self.patienceForOwn : Self.patience
  }

  private func mayUse(_ line: Line, _ now: Instant) -> Bool {
    guard case .place(let place) = line, demoted.contains(place) else { return true }
    if isWaitedFor(places: true) { return now >= began + Self.patience }
    return !isWaitedFor(places: false) || now >= began + Self.hold
  }

  /// Whether a place that has not failed lately, or an own address, may still be open soon.
  private func isWaitedFor(places: Bool) -> Bool {
    states.contains { line, state in
      guard [.idle, .opening].contains(state) else { return false }
      return switch line {
      case .own: !places
      case .place(let place): places && !demoted.contains(place)
      }
    }
  }

  /// The line is of no use any more. Of the own addresses others may be left.
  private mutating func leave(_ line: Line, _ reason: String) -> [Action] {
    reasons[line] = reason
    guard line == .own, !isAnswered else {
      isAnswered = false
      states[line] = .over
      return [.close(line)]
    }
    states[line] = .opening
    return [.close(line), .open(line)]
  }

  /// The child may be coming back, as when its network or the place has changed: a place is asked once more, and again while own
  /// addresses are being tried.
  private mutating func rest(_ line: Line, _ now: Instant) {
    absences[line, default: 0] += 1
    if states[.own] != .over || absences[line] == 1 { states[line] = .resting(until: now + Self.pause) }
  }

  private mutating func stopAsking() {
    for (line, count) in absences where count > 1 {
      if case .resting = states[line] { states[line] = .over }
    }
  }

  private mutating func reportAbsence() -> [Action] {
    guard !hasReported, !places.isEmpty, current == nil, states[.own] == .opening else { return [] }
    let said = said.filter { $0.line != .own }
    guard said.count == places.count else { return [] }
    hasReported = true
    return [.notMet(said)]
  }

  private mutating func conclude(_ now: Instant) -> [Action] {
    guard !again.isEmpty, rounds < Self.mostRounds, now < began + Self.limit else {
      isOver = true
      return [.giveUp(said)]
    }
    let pause = Self.pause * (1 << (rounds - 1))
    rounds += 1
    for line in again { states[line] = .resting(until: now + pause) }
    return []
  }
}
