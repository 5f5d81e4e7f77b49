import Wire

/// The bound by delay: grows while no queue stands on the path, and falls below what arrives when one does, so that it drains.
/// draft-ietf-rmcat-gcc-02 section 5.5.
struct DelayBasedRate: Sendable {
  /// Bits per second.
  private(set) var bitsPerSecond: Double
  private var updatedAt: Instant?
  /// What the path carried when a queue stood last, bits per second.
  private var capacity: Double?

  /// Of what arrives, on a queue: the draft's beta.
  static let decrease = 0.85
  /// Per second, while the capacity is unknown. The draft has 1.08 and leaves the rest to probes, which a peer without RTX does not
  /// get.
  private static let growth = 0.25
  /// More than this share of the capacity arrives: it is another one.
  private static let refuted = 1.15
  /// Bits per second, each second. The draft has a packet for each response, which favours whoever is near
  /// (`aLongRoundTripIsNoDisadvantage`).
  private static let growthNearCapacity = 80_000.0
  /// Of what arrives: a still picture does not raise the bound.
  private static let borneOut = 1.5

  init(bitsPerSecond: Double) {
    self.bitsPerSecond = bitsPerSecond
  }

  /// - Parameters:
  ///   - acknowledged: bits per second that arrive; nil while that is not known.
  ///   - maximum: bits per second.
  mutating func update(
    queue: StandingQueue.State, acknowledged: Double?, maximum: Double, now: Instant
  ) {
    let elapsed = min(max(0, (now - (updatedAt ?? now)).inSeconds), 1)
    updatedAt = now
    guard let acknowledged else { return }
    switch queue {
    case .standing:
      bitsPerSecond = min(bitsPerSecond, Self.decrease * acknowledged)
      capacity = acknowledged
    case .short: break
    case .empty:
      if let capacity, acknowledged > capacity * Self.refuted { self.capacity = nil }
      let step = bitsPerSecond * Self.growth
      let careful = min(step, Self.growthNearCapacity)
      let bound = max(bitsPerSecond, Self.borneOut * acknowledged + BandwidthEstimator.fullPacketBits)
      bitsPerSecond = min(bitsPerSecond + (capacity == nil ? step : careful) * elapsed, bound, maximum)
    }
  }

  /// A probe has shown that the path carries this much.
  mutating func raise(to rate: Double) {
    guard rate > bitsPerSecond else { return }
    bitsPerSecond = rate
    capacity = nil
  }

  /// A queue that drained has shown what the path carries: from there it goes on slowly.
  mutating func settle(below path: Double) {
    bitsPerSecond = max(bitsPerSecond, path * Self.decrease)
    capacity = path
  }

  /// Applies an external bound: feedback is missing, or a queue has to drain.
  mutating func lower(to bound: Double) {
    bitsPerSecond = min(bitsPerSecond, bound)
  }
}
