import Wire

/// Decides when the next packet may leave. Aims at low delay: on a healthy path a frame's packets leave at once.
struct Pacer: Sendable {
  private let burstPackets: Int
  private let burstInterval: Duration
  /// Healthy path: packets that may still leave in the window that ends at `windowEnd`.
  private var leftInWindow = 0
  private var windowEnd = Instant(nanoseconds: .min)
  /// Congested path: when the packets sent so far have drained at the pacing rate.
  private var paidAt = Instant(nanoseconds: .min)

  /// How far sending may run ahead of the pacing rate, so that timers need not be finer than this.
  private static let allowance = Duration.milliseconds(5)

  init(burstPackets: Int, burstInterval: Duration) {
    self.burstPackets = max(1, burstPackets)
    self.burstInterval = burstInterval
  }

  /// When a waiting packet may leave. `bitsPerSecond` is nil while the path is healthy.
  func nextRelease(bitsPerSecond: Double?) -> Instant {
    if bitsPerSecond != nil { return paidAt }
    return leftInWindow > 0 ? Instant(nanoseconds: .min) : windowEnd
  }

  /// Records a sent packet. Audio is recorded as well, although it is not paced.
  mutating func noteSent(bytes: Int, bitsPerSecond: Double?, now: Instant) {
    if now >= windowEnd {
      windowEnd = now + burstInterval
      leftInWindow = burstPackets
    }
    leftInWindow = max(0, leftInWindow - 1)
    guard let bitsPerSecond else {
      paidAt = now
      return
    }
    let nanoseconds = Double(bytes) * 8e9 / max(bitsPerSecond, 10_000)
    paidAt = max(paidAt, now - Self.allowance) + .nanoseconds(Int64(saturating: min(nanoseconds, 1e10)))
  }
}
