import TestSupport
import Wire

/// A limit without a queue, as mobile plans, hotels and guest networks have it: what exceeds it is dropped. `nft limit`.
struct Policer {
  let bitsPerSecond: Double
  let bucketBytes: Double
  private var tokens: Double
  private var filledAt = Instant.zero

  init(bitsPerSecond: Double, bucketBytes: Double) {
    (self.bitsPerSecond, self.bucketBytes, tokens) = (bitsPerSecond, bucketBytes, bucketBytes)
  }

  mutating func admits(bytes: Int, at now: Instant) -> Bool {
    tokens = min(bucketBytes, tokens + (now - filledAt).inSeconds * bitsPerSecond / 8)
    filledAt = now
    guard tokens >= Double(bytes) else { return false }
    tokens -= Double(bytes)
    return true
  }
}

/// Drops at random, with a chance that keeps the queue at 15 ms. RFC 8033.
struct PIE {
  private var probability = 0.0
  private var earlierDelay = 0.0
  private var updatedAt = Instant.zero

  /// RFC 8033 sections 4.2 and 5.1; seconds.
  private static let target = 0.015
  private static let interval = Duration.milliseconds(15)
  private static let alpha = 0.125
  private static let beta = 1.25

  /// - Parameter delay: what the packet would wait for, seconds.
  mutating func drops(delay: Double, at now: Instant, random: inout SeededGenerator) -> Bool {
    while now - updatedAt >= Self.interval {
      update(delay: delay)
      updatedAt += Self.interval
    }
    if earlierDelay < Self.target / 2, probability < 0.2 { return false }
    return Double.random(in: 0..<1, using: &random) < probability
  }

  private mutating func update(delay: Double) {
    var change = Self.alpha * (delay - Self.target) + Self.beta * (delay - earlierDelay)
    let scales = [(0.000_001, 2048.0), (0.000_01, 512), (0.000_1, 128), (0.001, 32), (0.01, 8), (0.1, 2)]
    if let scale = scales.first(where: { probability < $0.0 }) { change /= scale.1 }
    probability = min(max(0, probability + change), 1)
    if delay == 0, earlierDelay == 0 { probability *= 0.98 }
    earlierDelay = delay
  }
}
