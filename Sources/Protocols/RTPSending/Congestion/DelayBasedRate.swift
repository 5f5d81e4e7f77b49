import Wire

/// The delay-based estimate: increases while the delay is stable, drops below the acknowledged rate when a queue builds
/// up. draft-ietf-rmcat-gcc-02 section 5.5.
struct DelayBasedRate: Sendable {
  private enum State: Sendable { case increase, hold }

  /// Bits per second.
  private(set) var bitsPerSecond: Double
  private var state = State.increase
  private var updatedAt: Instant?
  private var capacity: LinkCapacity?

  /// Fraction of the acknowledged rate kept on overuse, so that the queue drains. Section 5.5, beta.
  private static let decreaseFactor = 0.85
  /// Who sends less than this share of the estimate does not use it.
  private static let unusedShare = 0.85
  /// Per second, while the link capacity is unknown. The draft has 1.08 and leaves the rest to probes, which a peer without
  /// RTX does not get.
  private static let increaseFactor = 1.25
  /// Pictures a second, where the draft asks for the size of a packet.
  private static let pictureRate = 30.0

  init(bitsPerSecond: Double) {
    self.bitsPerSecond = bitsPerSecond
  }

  /// - Parameters:
  ///   - acknowledged: bits per second that arrive; nil while that is not known.
  ///   - isProbed: probes have worked before.
  ///   - hasQueue: packets wait on the path, not only those of a burst.
  mutating func update(
    usage: BandwidthUsage, acknowledged: Double?, roundTripTime: Duration, maximum: Double, isProbed: Bool,
    hasQueue: Bool, now: Instant
  ) {
    let elapsed = min(max(0, (now - (updatedAt ?? now)).inSeconds), 1)
    updatedAt = now
    switch usage {
    case .overuse:
      guard let acknowledged else { return }
      state = .hold
      // Less was sent than might be: a burst was late, and what arrives does not say how much would.
      if !hasQueue, let capacity, acknowledged < min(capacity.mean, bitsPerSecond * Self.unusedShare) {
        bitsPerSecond = min(bitsPerSecond, Self.decreaseFactor * capacity.mean)
        return
      }
      if let capacity, capacity.isRefuted(by: acknowledged) { self.capacity = nil }
      bitsPerSecond = min(bitsPerSecond, Self.decreaseFactor * acknowledged)
      capacity = LinkCapacity(adding: acknowledged, to: capacity)
    case .underuse:
      state = .hold
    case .normal:
      if state == .hold {
        state = .increase
        return
      }
      increase(
        acknowledged: acknowledged, elapsed: elapsed, roundTripTime: roundTripTime, maximum: maximum, isProbed: isProbed
      )
    }
  }

  private mutating func increase(
    acknowledged: Double?, elapsed: Double, roundTripTime: Duration, maximum: Double, isProbed: Bool
  ) {
    guard let acknowledged else { return }
    if let capacity, acknowledged > capacity.upper { self.capacity = nil }
    var next = bitsPerSecond
    if capacity != nil {
      // Near the capacity: about one packet per response time. On a narrow path packets are small.
      let responseTime = roundTripTime.inSeconds + 0.1
      let packetBits = min(BandwidthEstimator.fullPacketBits, bitsPerSecond / Self.pictureRate)
      next += max(4_000, packetBits / max(responseTime, 0.1)) * elapsed
    } else {
      next *= 1 + (Self.increaseFactor - 1) * elapsed
    }
    // Section 5.5: no growth far beyond the acknowledged rate. A still picture neither raises nor lowers the estimate. On a
    // narrow path, probes cost little and say more: half as much again could be a picture that it does not carry.
    let isCareful = isProbed && bitsPerSecond < BandwidthEstimator.narrowBitsPerSecond
    let borneOut = max(bitsPerSecond, isCareful ? 1.2 * acknowledged + 5_000 : 1.5 * acknowledged + 10_000)
    bitsPerSecond = min(next, borneOut, maximum)
  }

  /// A probe has shown that the path carries this much.
  mutating func raise(to rate: Double) {
    guard rate > bitsPerSecond else { return }
    bitsPerSecond = rate
    capacity = nil
    state = .increase
  }

  /// A queue that drained has shown what the path carries: from there it goes on slowly.
  mutating func settle(below path: Double, share: Double) {
    bitsPerSecond = max(bitsPerSecond, path * share)
    capacity = LinkCapacity(adding: path, to: nil)
    state = .increase
  }

  /// Applies an external bound: feedback is missing, or a queue has to drain.
  mutating func lower(to bound: Double) {
    bitsPerSecond = min(bitsPerSecond, bound)
  }
}

/// Mean and variance of the acknowledged rate at overuse.
private struct LinkCapacity: Sendable {
  /// Bits per second.
  private(set) var mean: Double
  /// Variance divided by the mean.
  private var variance: Double

  init(adding rate: Double, to old: LinkCapacity?) {
    guard let old else {
      mean = rate
      variance = 400
      return
    }
    mean = 0.95 * old.mean + 0.05 * rate
    let error = mean - rate
    variance = 0.95 * old.variance + 0.05 * error * error / max(mean, 1)
    // Keeps three standard deviations between 6 and 15 % at 1 Mbit/s.
    variance = min(max(variance, 400), 2500)
  }

  private var deviation: Double { (variance * max(mean, 1)).squareRoot() }

  var upper: Double { mean + 3 * deviation }

  func isRefuted(by rate: Double) -> Bool {
    rate < mean - 3 * deviation || rate > upper
  }
}
