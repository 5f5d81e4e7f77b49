import Wire

/// How much later than the fastest packets of late the slow ones come: a histogram that forgets, and its quantile.
///
/// Transit is arrival time less media time, in nanoseconds. Its origin is unknown, so only differences mean anything.
struct DelayEstimate: Sendable {
  private var fastest = FastestTransit()
  private var shares: [Float]
  private var sampleCount = 0
  /// The slowest packet of the interval that is being watched.
  private var slowest: (delay: Int64, until: Int64)?
  /// Nanoseconds that all but a few packets keep to; nil at the beginning.
  private(set) var quantile: Int64?

  /// Finer steps are lost in the jitter of any network.
  private static let bucket: Int64 = 5_000_000
  /// One sample each interval, the worst one: it is the worst packets of a burst that count, and their number does not.
  private static let interval: Int64 = 200_000_000
  /// Samples before the quantile is worth something: a second.
  private static let enough = 5
  /// The weight of a new sample, when there are many: half is forgotten in 9 s.
  private static let weight: Float = 0.016
  /// What may come later than the quantile. More than `weight`, so that one hiccup alone changes nothing; little enough
  /// that one each 8 s is waited for. A spell of jitter is forgotten within 50 s.
  private static let tail: Float = 0.018

  init(maximum: Duration) {
    let count = min(max(1, maximum.nanoseconds / Self.bucket), 1000)
    shares = Array(repeating: 0, count: Int(count))
  }

  /// The transit of the fastest packets of the last 2 to 4 s.
  var floor: Int64 { fastest.value }

  /// Whether enough has come to judge by.
  var isSettled: Bool { sampleCount >= Self.enough }

  /// Takes a packet that came by itself, not one that was asked for again. One that reaches beyond the maximum moves the
  /// floor alone: no wait would be long enough for it.
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

  /// The sender's time line begins anew; what is known of the network stays.
  mutating func rebase() {
    fastest = FastestTransit()
    slowest = nil
  }

  private mutating func record(_ delay: Int64) {
    sampleCount = min(sampleCount + 1, 1000)
    // The first samples weigh the same each, until there are enough to forget the oldest.
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

/// The least transit of the last one to two windows, in constant space.
private struct FastestTransit: Sendable {
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
