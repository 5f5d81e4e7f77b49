import Wire

/// The loss-based bound: down above 10 % loss, up below 2 %. draft-ietf-rmcat-gcc-02 section 6.
///
/// A radio loses packets on a path that is anything but full, and sending less does not help against it. So where no queue
/// stands on the path, loss up to 25 % does not lower the bound.
struct LossBasedRate: Sendable {
  /// Bits per second.
  private(set) var bitsPerSecond: Double
  private var lost = 0.0
  private var total = 0.0
  private var sawQueue = false
  private var judgedAt: Instant?
  /// Over the last few intervals, 0...1. One interval of a narrow path has so few packets that chance alone makes 30 % of
  /// 20 %.
  private var smoothedFractionLost = 0.0
  /// Whether what was lost in the last interval is a sign of a path that is too full.
  private(set) var isCongestion = false

  /// Fewer packets than this tell chance, not loss.
  private static let packetsToJudge = 20.0
  private static let interval = Duration.milliseconds(500)
  /// With a standing queue: the limits of the draft.
  private static let tolerated = 0.1
  private static let toleratedWhenGrowing = 0.02
  /// Without one: 25 %, and what chance makes of that.
  private static let toleratedWithoutQueue = 0.3
  private static let smoothing = 0.25
  /// A second, while little is lost.
  private static let growth = 0.25
  /// A second, while a path without a queue loses more: it has to come back up from a bad spell, too.
  private static let growthUnderLoss = 0.05

  private let minimum: Double

  /// - Parameter minimum: what is sent in any case. A bound that sank below it would take long to count again.
  init(bitsPerSecond: Double, minimum: Double) {
    self.bitsPerSecond = bitsPerSecond
    self.minimum = minimum
  }

  /// Adds what a report says.
  ///
  /// - Parameters:
  ///   - lost: packets; negative when some that were counted have come after all.
  ///   - total: packets, lost ones included.
  ///   - hasQueue: whether packets wait on the path, as far as is known.
  ///   - target: what the sender keeps to now, bits per second; `maximum` likewise.
  mutating func add(lost: Double, total: Double, hasQueue: Bool, target: Double, maximum: Double, now: Instant) {
    self.lost += lost
    self.total += max(0, total)
    sawQueue = sawQueue || hasQueue
    guard let judgedAt else {
      judgedAt = now
      return
    }
    let elapsed = now - judgedAt
    guard elapsed >= Self.interval, self.total >= Self.packetsToJudge else { return }
    let fraction = min(max(0, self.lost / self.total), 1)
    judge(fraction: fraction, elapsed: min(elapsed.inSeconds, 1), target: target, maximum: maximum)
    self.judgedAt = now
    self.lost = 0
    self.total = 0
    sawQueue = false
  }

  private mutating func lower(by share: Double, target: Double) {
    bitsPerSecond = max(minimum, min(bitsPerSecond, target) * (1 - share))
  }

  private mutating func judge(fraction: Double, elapsed: Double, target: Double, maximum: Double) {
    smoothedFractionLost += (fraction - smoothedFractionLost) * Self.smoothing
    let isHopeless = smoothedFractionLost > Self.toleratedWithoutQueue
    isCongestion = sawQueue && fraction > Self.tolerated / 2 || isHopeless
    if sawQueue && fraction > Self.tolerated {
      lower(by: 0.5 * fraction, target: target)
    } else if isHopeless {
      lower(by: 0.5 * smoothedFractionLost, target: target)
    } else if fraction < Self.toleratedWhenGrowing {
      bitsPerSecond = min(maximum, bitsPerSecond * (1 + Self.growth * elapsed))
    } else if !sawQueue {
      bitsPerSecond = min(maximum, bitsPerSecond * (1 + Self.growthUnderLoss * elapsed))
    }
  }
}
