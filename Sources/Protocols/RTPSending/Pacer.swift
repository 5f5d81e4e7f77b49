import Wire

/// Decides when the next packet may leave. Aims at low delay: on a healthy path a frame's packets leave at once.
struct Pacer: Sendable {
  private let burstPackets: Int
  private let burstInterval: Duration
  /// Healthy path: packets that may still leave in the window that ends at `windowEnd`.
  private var leftInWindow = 0
  private var windowEnd = Instant(nanoseconds: .min)
  /// Congested path: what of the packets sent so far had not drained at the pacing rate at `owedAt`. In bits: when the rate
  /// rises, they drain sooner.
  private var owedBits = 0.0
  private var owedAt = Instant.zero

  /// How far sending may run ahead of the pacing rate, so that timers need not be finer than this.
  private static let allowance = Duration.milliseconds(5)
  /// For packets that are not paced.
  private static let longestWait = Duration.milliseconds(200)
  private static let leastBitsPerSecond = 10_000.0

  init(burstPackets: Int, burstInterval: Duration) {
    self.burstPackets = max(1, burstPackets)
    self.burstInterval = burstInterval
  }

  /// When a waiting packet may leave. `bitsPerSecond` is nil while the path is healthy.
  func nextRelease(bitsPerSecond: Double?) -> Instant {
    if let bitsPerSecond {
      let nanoseconds = owedBits * 1e9 / max(bitsPerSecond, Self.leastBitsPerSecond)
      return owedAt + .nanoseconds(Int64(saturating: min(nanoseconds, 1e10)))
    }
    return leftInWindow > 0 ? Instant(nanoseconds: .min) : windowEnd
  }

  /// Records a sent packet.
  ///
  /// - Parameter isPaced: false for sound and messages. They are recorded as well, but how many of them go out does not
  ///   depend on the rate: where it is low for a moment, they must not hold back pictures for long after that.
  mutating func noteSent(bytes: Int, bitsPerSecond: Double?, isPaced: Bool, now: Instant) {
    if now >= windowEnd {
      windowEnd = now + burstInterval
      leftInWindow = burstPackets
    }
    leftInWindow = max(0, leftInWindow - 1)
    if let bitsPerSecond {
      let rate = max(bitsPerSecond, Self.leastBitsPerSecond)
      let drained = (now - owedAt).inSeconds * rate
      let before = max(owedBits - drained, -Self.allowance.inSeconds * rate)
      owedBits = before + Double(bytes * 8)
      if !isPaced { owedBits = min(owedBits, max(before, Self.longestWait.inSeconds * rate)) }
    } else {
      owedBits = 0
    }
    owedAt = now
  }
}
