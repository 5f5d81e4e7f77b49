public import Wire

/// When the proof of hearing of each day begins: from its time on, as soon as somebody listens; after two hours in which
/// nobody does it is made all the same, and fails. Pure.
public struct NightlyTest: Sendable {
  /// After midnight.
  private let minutes: Int
  /// The last day whose test has begun to wait, or was over before it could; nil before the first call.
  private var lastDay: Int?
  /// It is time, and nobody listens yet.
  private var waitingSince: Instant?
  /// When somebody began to listen: the stock of a receiver has to fill.
  private var listenedSince: Instant?

  private static let patience: Duration = .seconds(7200)
  private static let settling: Duration = .seconds(10)
  /// The clock may step over its time: by an hour in the night in which summer time begins. A clock that is set right later
  /// than this, or a machine that was asleep, plays no sound in the night.
  private static let latestMinutes = 120

  /// - Parameter minutes: after midnight, by the local clock.
  public init(minutes: Int) {
    self.minutes = minutes
  }

  /// Whether it begins now. Call at least twice a minute. By the local clock, which shows an hour twice where summer time
  /// ends: the test is one of the day.
  ///
  /// - Parameter day: number of the day, counted from any.
  public mutating func isDue(day: Int, minutesOfDay: Int, hasListeners: Bool, now: Instant) -> Bool {
    listenedSince = hasListeners ? listenedSince ?? now : nil
    let late = minutesOfDay - minutes
    // At the first call, and when the clock was set back by more than midnight's other side: today's is to come, or over.
    if lastDay.map({ day < $0 - 1 }) ?? true { lastDay = late > 0 ? day : day - 1 }
    if let last = lastDay, day > last, late >= 0 {
      lastDay = day
      if late <= Self.latestMinutes { waitingSince = now }
    }
    guard let waitingSince else { return false }
    let isSettled = listenedSince.map { now - $0 >= Self.settling } ?? false
    guard isSettled || now - waitingSince >= Self.patience else { return false }
    self.waitingSince = nil
    return true
  }
}
