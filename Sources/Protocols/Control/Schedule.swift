/// What the child does by itself at times of the day. Pure; by the local clock, which skips an hour where summer time begins
/// (what was due in it is done at its end) and shows one twice where it ends (what is due in it is done once).
public struct Schedule: Sendable {
  public enum Action: Hashable, Sendable {
    /// `camera.resume` or `camera.pause`.
    case camera(isOn: Bool)
    case light(LightSet)
    case lullaby(LullabyPlay)
    case lullabyStop
  }

  public struct Entry: Hashable, Sendable {
    /// After midnight.
    public var minutes: Int
    /// 0 is Monday.
    public var days: Set<Int>
    public var action: Action

    public init(minutes: Int, days: Set<Int> = Set(0...6), action: Action) {
      self.minutes = minutes
      self.days = days
      self.action = action
    }
  }

  private let entries: [Entry]
  /// What was due until then has been done, or is over: minutes of the local clock.
  private var last: Int?

  /// A machine that was asleep for longer, or whose clock was set, does not switch a light on in the night. The cameras get the
  /// state that they should have.
  private static let latestMinutes = 120
  private static let minutesOfDay = 1440

  public init(_ entries: [Entry]) {
    self.entries = entries
  }

  public var isEmpty: Bool { entries.isEmpty }

  /// What is to be done now. Call it at least once a minute.
  ///
  /// - Parameter day: number of the day, from 1970-01-01 on.
  public mutating func due(day: Int, minutesOfDay: Int) -> [Action] {
    let now = day * Self.minutesOfDay + minutesOfDay
    guard let before = last, abs(now - before) <= Self.latestMinutes else {
      // The first call, or the clock was set.
      last = now
      return entries.isEmpty ? [] : camera(day: day, minutesOfDay: minutesOfDay).map { [.camera(isOn: $0.isOn)] } ?? []
    }
    guard now > before else { return [] }
    last = now
    return moments(from: day - 1, to: day).filter { before < $0.time && $0.time <= now }.map(\.entry.action)
  }

  /// The state that the cameras should have, and for how long already, in minutes; nil where no entry is about them.
  public func camera(day: Int, minutesOfDay: Int) -> (isOn: Bool, minutesAgo: Int)? {
    let now = day * Self.minutesOfDay + minutesOfDay
    for moment in moments(from: day - 7, to: day).reversed() where moment.time <= now {
      if case .camera(let isOn) = moment.entry.action { return (isOn, now - moment.time) }
    }
    return nil
  }

  /// The next entry of cameras, lights and lullabies within a day: the one that comes first is first.
  public func next(day: Int, minutesOfDay: Int) -> [Entry] {
    let now = day * Self.minutesOfDay + minutesOfDay
    var found: [Entry] = []
    for moment in moments(from: day, to: day + 1) where moment.time > now && moment.time <= now + Self.minutesOfDay {
      if !found.contains(where: { $0.action.kind == moment.entry.action.kind }) { found.append(moment.entry) }
    }
    return found
  }

  /// In the order of time; entries of one moment in that of the configuration.
  private func moments(from first: Int, to last: Int) -> [(time: Int, entry: Entry)] {
    (first...last).flatMap { day in
      // 1970-01-01 was a Thursday.
      let weekday = ((day + 3) % 7 + 7) % 7
      return entries.enumerated().filter { $0.element.days.contains(weekday) }
        .sorted { ($0.element.minutes, $0.offset) < ($1.element.minutes, $1.offset) }
        .map { (day * Self.minutesOfDay + $0.element.minutes, $0.element) }
    }
  }
}

extension Schedule.Action {
  fileprivate enum Kind { case camera, light, lullaby }

  fileprivate var kind: Kind {
    switch self {
    case .camera: .camera
    case .light: .light
    case .lullaby, .lullabyStop: .lullaby
    }
  }
}
