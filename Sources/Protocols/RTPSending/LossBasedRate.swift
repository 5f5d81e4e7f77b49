import Wire

/// The loss-based bound: down above 10 % loss, up below 2 %. draft-ietf-rmcat-gcc-02 section 6.
struct LossBasedRate: Sendable {
  /// Bits per second.
  private(set) var bitsPerSecond: Double
  private var lost = 0.0
  private var total = 0.0
  private var judgedAt: Instant?
  /// Of the last interval that was judged, 0...1.
  private(set) var fractionLost = 0.0

  /// Fewer packets than this tell chance, not loss.
  private static let packetsToJudge = 20.0
  private static let interval = Duration.milliseconds(500)

  init(bitsPerSecond: Double) {
    self.bitsPerSecond = bitsPerSecond
  }

  /// Adds what a report says. `target` is what the sender keeps to now.
  mutating func add(lost: Double, total: Double, target: Double, maximum: Double, now: Instant) {
    self.lost += max(0, lost)
    self.total += max(0, total)
    guard let judgedAt else {
      judgedAt = now
      return
    }
    let elapsed = now - judgedAt
    guard elapsed >= Self.interval, self.total >= Self.packetsToJudge else { return }
    fractionLost = min(1, self.lost / self.total)
    self.judgedAt = now
    self.lost = 0
    self.total = 0
    if fractionLost > 0.1 {
      bitsPerSecond = min(bitsPerSecond, target) * (1 - 0.5 * fractionLost)
    } else if fractionLost < 0.02 {
      bitsPerSecond = min(maximum, bitsPerSecond * (1 + 0.25 * min(elapsed.inSeconds, 1)))
    }
  }
}
