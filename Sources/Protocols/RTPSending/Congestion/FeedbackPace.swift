import Wire

/// How often transport-wide feedback comes, and when one is missing.
struct FeedbackPace: Sendable {
  /// Smoothed, between two that were sent, whether or not both arrived; nil before the second.
  private(set) var interval: Duration?
  private var last: (count: UInt8, at: Instant)?
  var heardAt: Instant? { last?.at }

  /// More than this in a row were not lost: the peer began anew.
  private static let plausibleSteps: UInt8 = 16
  private static let smoothing: Int64 = 8
  /// A peer that reports more often makes no more work.
  private static let least = Duration.milliseconds(20)
  /// Of an interval, how late one that is not lost may be.
  private static let slackPercent: Int64 = 50

  /// - Parameter count: `fb pkt. count` of draft-holmer-rmcat-transport-wide-cc-extensions-01 section 3.1, which counts those
  ///   that are lost as well.
  mutating func note(count: UInt8, now: Instant) {
    defer { last = (count, now) }
    guard let last else { return }
    let steps = count &- last.count
    guard (1...Self.plausibleSteps).contains(steps), now > last.at else { return }
    let sample = (now - last.at).nanoseconds / Int64(steps)
    let before = interval?.nanoseconds ?? sample
    interval = max(Self.least, .nanoseconds(before + (sample - before) / Self.smoothing))
  }

  /// When the feedback with this number after the last one should come.
  func expected(_ number: Int) -> Instant? {
    guard let last, let interval else { return nil }
    return last.at + .nanoseconds(interval.nanoseconds * Int64(number))
  }

  /// When it is missing.
  func missing(_ number: Int) -> Instant? {
    guard let expected = expected(number), let interval else { return nil }
    return expected + .nanoseconds(interval.nanoseconds * Self.slackPercent / 100)
  }
}
