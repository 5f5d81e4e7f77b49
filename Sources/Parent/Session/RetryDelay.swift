internal import Wire

/// Exponential backoff with jitter: 200 ms at first, then 500 ms doubling up to ten seconds. The jitter keeps viewers that
/// lost the same child from all coming back at the same moment.
struct RetryDelay: Sendable {
  private var attempts = 0
  private var last: Instant?
  /// After a link that held this long the backoff starts over.
  private static let forget: Duration = .seconds(30)

  /// - Parameter jitter: 0...1, random; shortens the delay by up to a quarter.
  mutating func next(now: Instant, jitter: Double) -> Duration {
    if let last, now - last > Self.forget { attempts = 0 }
    last = now
    attempts += 1
    let whole: Duration =
      attempts == 1 ? .milliseconds(200) : min(.seconds(10), .milliseconds(500) * (1 << min(attempts - 2, 6)))
    return whole - .nanoseconds(Int64(saturating: Double(whole.nanoseconds) * jitter / 4))
  }
}
