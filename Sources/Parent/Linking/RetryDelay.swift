internal import Wire

/// How long to wait before the link is made anew: at once at first, then longer, up to ten seconds. Viewers that lost the
/// same child do not come back all at the same moment.
struct RetryDelay: Sendable {
  private var attempts = 0
  private var last: Instant?
  /// A link that held this long was a good one.
  private static let forget: Duration = .seconds(30)

  /// - Parameter jitter: 0...1, random; takes up to a quarter off.
  mutating func next(now: Instant, jitter: Double) -> Duration {
    if let last, now - last > Self.forget { attempts = 0 }
    last = now
    attempts += 1
    let whole: Duration =
      attempts == 1 ? .milliseconds(200) : min(.seconds(10), .milliseconds(500) * (1 << min(attempts - 2, 6)))
    return whole - .nanoseconds(Int64(Double(whole.nanoseconds) * jitter / 4))
  }
}
