import Wire

/// The loss-based bound: decreases above 10 % loss, increases below 2 %. draft-ietf-rmcat-gcc-02 section 6.
///
/// A radio link loses packets even when it is far from full, and sending less does not help. So without a standing
/// queue, loss of up to 25 % does not lower the bound.
struct LossBasedRate: Sendable {
  /// Bits per second.
  private(set) var bitsPerSecond: Double
  private var lost = 0.0
  private var total = 0.0
  private var sawQueue = false
  private var judgedAt: Instant?
  /// Over the last few intervals, 0...1. One interval on a slow path has so few packets that chance alone can turn 20 %
  /// into 30 %.
  private var smoothedFractionLost = 0.0
  /// Whether the loss in the last interval indicates congestion.
  private(set) var isCongestion = false

  /// With fewer packets than this, the fraction lost is noise.
  private static let packetsToJudge = 20.0
  private static let interval = Duration.milliseconds(500)
  /// With a standing queue: the limits of the draft.
  private static let tolerated = 0.1
  private static let toleratedWhenGrowing = 0.02
  /// Without one: 25 %, plus a margin for chance.
  private static let toleratedWithoutQueue = 0.3
  private static let smoothing = 0.25
  /// Per second, while loss is low.
  private static let growth = 0.25
  /// Per second, with more loss but no queue: the bound has to recover there, too.
  private static let growthUnderLoss = 0.05

  private let minimum: Double

  /// - Parameter minimum: the rate that is sent in any case. A bound below it would take long to recover.
  init(bitsPerSecond: Double, minimum: Double) {
    self.bitsPerSecond = bitsPerSecond
    self.minimum = minimum
  }

  /// Adds the loss from a report.
  ///
  /// - Parameters:
  ///   - lost: packets; negative when packets counted as lost arrived after all.
  ///   - total: packets, including lost ones.
  ///   - hasQueue: whether there is a queue on the path, as far as known.
  ///   - target: the current target bitrate, bits per second; `maximum` likewise.
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

  /// A probe has shown that the path carries this much.
  mutating func raise(to rate: Double) {
    bitsPerSecond = max(bitsPerSecond, rate)
  }

  /// A queue has drained, and has shown what the path carries. What was lost meanwhile was its overflow: that is explained.
  mutating func settle(at rate: Double, now: Instant) {
    raise(to: rate)
    lost = 0
    total = 0
    sawQueue = false
    smoothedFractionLost = 0
    judgedAt = now
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
