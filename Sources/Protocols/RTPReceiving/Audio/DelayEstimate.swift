import Wire

/// Delay of slow packets relative to the fastest recent ones: a decaying histogram and its quantile.
///
/// Transit is arrival time minus media time, in nanoseconds. Its origin is unknown, so only differences are meaningful.
struct DelayEstimate: Sendable {
  private var fastest = FastestTransit()
  private var shares: [Float]
  private var sampleCount = 0
  /// The slowest packet of the current interval.
  private var slowest: (delay: Int64, until: Int64)?
  /// Delay in nanoseconds that all but a few packets stay within; nil at first.
  private(set) var quantile: Int64?

  /// Finer steps would disappear in the jitter of any network.
  private static let bucket: Int64 = 5_000_000
  /// One sample per interval, the worst: only the slowest packet of a burst matters, not their number.
  private static let interval: Int64 = 200_000_000
  /// Samples needed for a meaningful quantile: one second.
  private static let enough = 5
  /// Weight of a new sample once there are many: a half-life of 9 s.
  private static let weight: Float = 0.016
  /// Fraction allowed beyond the quantile. More than `weight`, so that a single hiccup changes nothing; small enough to
  /// cover one every 8 s. A burst of jitter is forgotten within 50 s.
  private static let tail: Float = 0.018

  init(maximum: Duration) {
    let count = min(max(1, maximum.nanoseconds / Self.bucket), 1000)
    shares = Array(repeating: 0, count: Int(count))
  }

  /// The transit of the fastest packets of the last 2 to 4 s.
  var floor: Int64 { fastest.value }

  /// Whether there are enough samples.
  var isSettled: Bool { sampleCount >= Self.enough }

  /// Adds a packet that was not recovered. One beyond the maximum moves only the floor: no delay would be long enough
  /// for it.
  mutating func add(transit: Int64, at now: Instant) {
    let time = now.nanoseconds
    fastest.add(transit, at: time)
    let delay = max(0, transit &- fastest.value)
    if let slowest, time >= slowest.until {
      record(slowest.delay)
      self.slowest = nil
    }
    guard delay < Int64(shares.count) * Self.bucket else { return }
    slowest = (max(delay, slowest?.delay ?? 0), slowest?.until ?? time &+ Self.interval)
  }

  /// The sender's timeline restarts; what is known of the network is kept.
  mutating func rebase() {
    fastest = FastestTransit()
    slowest = nil
  }

  private mutating func record(_ delay: Int64) {
    sampleCount = min(sampleCount + 1, 1000)
    // The first samples have equal weight, until there are enough to decay.
    let weight = max(Self.weight, 1 / Float(sampleCount))
    for index in shares.indices { shares[index] *= 1 - weight }
    shares[min(Int(delay / Self.bucket), shares.count - 1)] += weight
    var above: Float = 0
    var index = shares.count - 1
    while index > 0 {
      above += shares[index]
      if above > Self.tail { break }
      index -= 1
    }
    quantile = Int64(index + 1) * Self.bucket
  }
}

/// Minimum transit over the last one to two windows, in constant space.
struct FastestTransit: Sendable {
  private static let window: Int64 = 2_000_000_000
  private var start: Int64?
  private var current = Int64.max
  private var previous = Int64.max

  var value: Int64 {
    let least = min(current, previous)
    return least == .max ? 0 : least
  }

  mutating func add(_ transit: Int64, at time: Int64) {
    let elapsed = time &- (start ?? time)
    if start == nil || elapsed < 0 || elapsed >= 2 * Self.window {
      previous = .max
      current = .max
      start = time
    } else if elapsed >= Self.window {
      previous = current
      current = .max
      start = time
    }
    current = min(current, transit)
  }
}
