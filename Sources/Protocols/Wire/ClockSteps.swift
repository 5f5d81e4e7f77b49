/// Whether something may be begun by the wall clock: after a step, which may be wrong, it has to stay for a minute. Pure.
public struct ClockSteps: Sendable {
  /// Between the wall clock and the monotonic one; nil before the first call.
  private var offset: Double?
  private var steppedAt: Instant?

  private static let settling: Duration = .seconds(60)
  /// In seconds. Less is no step.
  private static let smallest = 5.0

  public init() {}

  /// - Parameter unixTime: seconds of the wall clock, in no time zone.
  public mutating func isSettled(unixTime: Double, now: Instant) -> Bool {
    let before = offset
    let offset = unixTime - (now - .zero).inSeconds
    self.offset = offset
    if let before, abs(offset - before) >= Self.smallest { steppedAt = now }
    return steppedAt.map { now - $0 >= Self.settling } ?? true
  }
}
