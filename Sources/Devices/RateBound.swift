internal import Wire

/// Bounds the frame rate of somebody who makes them whenever it likes: on average `rate`; after a
/// pause, as a network makes them, half a second's at once. It is the generic cell rate algorithm (ITU-T I.371, annex A).
struct RateBound: Sendable {
  private let interval: Duration
  /// When the next one would come, if all came evenly.
  private var expected: Instant = .zero

  private static let burst: Duration = .milliseconds(500)

  /// - Parameter rate: fps; at least 0.1.
  init(rate: Double) {
    interval = .nanoseconds(Int64(saturating: 1e9 / max(0.1, rate)))
  }

  /// From when on the next one is in time.
  var opensAt: Instant { expected - Self.burst }

  /// Whether one that comes at `now` is in time. It counts if it is.
  mutating func admits(_ now: Instant) -> Bool {
    guard opensAt <= now else { return false }
    count(now)
    return true
  }

  /// Counts one that came at `now`, in time or not.
  mutating func count(_ now: Instant) {
    expected = max(expected, now) + interval
  }
}
