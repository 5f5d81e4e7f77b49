public import Wire

/// When the proof of hearing of each day begins: from its time on, as soon as somebody listens; after two hours in which
/// nobody does it is made all the same, and fails. Pure.
public struct NightlyTest: Sendable {
  /// After midnight.
  private let minutes: Int
  private var wasDue = false
  /// It is time, and nobody listens yet.
  private var waitingSince: Instant?
  /// When somebody began to listen: the stock of a receiver has to fill.
  private var listenedSince: Instant?

  private static let patience: Duration = .seconds(7200)
  private static let settling: Duration = .seconds(10)

  /// - Parameter minutes: after midnight, by the local clock.
  public init(minutes: Int) {
    self.minutes = minutes
  }

  /// Whether it begins now. Call at least twice a minute.
  public mutating func isDue(minutesOfDay: Int, hasListeners: Bool, now: Instant) -> Bool {
    listenedSince = hasListeners ? listenedSince ?? now : nil
    let isTime = minutesOfDay == minutes
    if isTime, !wasDue { waitingSince = now }
    wasDue = isTime
    guard let waitingSince else { return false }
    let isSettled = listenedSince.map { now - $0 >= Self.settling } ?? false
    guard isSettled || now - waitingSince >= Self.patience else { return false }
    self.waitingSince = nil
    return true
  }
}
