internal import Wire

/// When to connect again to a meeting place: after a second, then twice as long each time up to a minute, less up to a half
/// by chance, so that not all children come back at the same moment when a place does.
struct MeetingRetry: Sendable {
  private var attempts = 0

  /// - Parameter jitter: 0...1, random.
  mutating func next(jitter: Double) -> Duration {
    let seconds = min(60, 1 << min(attempts, 6))
    attempts += 1
    return .nanoseconds(Int64(saturating: Double(seconds) * 1e9 * (1 - jitter / 2)))
  }

  /// The place has taken us.
  mutating func succeeded() {
    attempts = 0
  }
}
