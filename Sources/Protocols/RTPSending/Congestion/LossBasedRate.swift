import Wire

/// The loss-based bound: of a few rates around the present one, the one that explains best what was lost. `LossModel`.
struct LossBasedRate: Sendable {
  /// Bits per second.
  private(set) var bitsPerSecond: Double
  /// Whether more was lost in the last observation than the path loses by itself.
  private(set) var isCongestion = false
  private var model = LossModel()
  private var lost = 0.0
  private var total = 0.0
  private var arrivedBits = 0.0
  private var sawQueue = false
  private var highestTarget = 0.0
  private var observedAt: Instant?
  private let minimum: Double

  private static let observation = Duration.milliseconds(250)
  private static let step = 0.95
  /// By how much a smaller bound has to be likelier, as a logarithm: by chance, some is always a little likelier.
  private static let margin = 3.0
  /// Where more is lost than any path does by itself, the bound is this, in bits per second, divided by the share above that:
  /// whatever the loss comes from.
  private static let hopelessBitsPerSecond = 75_000.0
  /// With less loss the bound grows faster, and also while there is a queue.
  private static let toleratedWhenGrowing = 0.02
  /// Per second, while loss is low.
  private static let growth = 0.25
  /// Per second, with more loss but no queue: the bound has to recover there, too.
  private static let growthUnderLoss = 0.05

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
  ///   - arrivedBits: of those that arrived.
  ///   - hasQueue: whether there is a queue on the path, as far as known.
  ///   - target: the current target bitrate, bits per second; `maximum` likewise.
  mutating func add(
    lost: Double, total: Double, arrivedBits: Double, hasQueue: Bool, target: Double, maximum: Double, now: Instant
  ) {
    guard let observedAt else {
      self.observedAt = now
      return
    }
    self.lost += lost
    self.total += max(0, total)
    self.arrivedBits += arrivedBits
    sawQueue = sawQueue || hasQueue
    highestTarget = max(highestTarget, target)
    let elapsed = now - observedAt
    guard elapsed >= Self.observation, self.total > 0 else { return }
    observe(seconds: elapsed.inSeconds, target: target, maximum: maximum)
    beginObservation(now: now)
  }

  /// A probe has shown that the path carries this much.
  mutating func raise(to rate: Double) {
    bitsPerSecond = max(bitsPerSecond, rate)
  }

  /// A queue has drained, and has shown what the path carries. What was lost meanwhile was its overflow: that is explained.
  mutating func settle(at rate: Double, now: Instant) {
    raise(to: rate)
    model.removeAll()
    beginObservation(now: now)
  }

  private mutating func beginObservation(now: Instant) {
    observedAt = now
    lost = 0
    total = 0
    arrivedBits = 0
    sawQueue = false
    highestTarget = 0
  }

  private mutating func observe(seconds: Double, target: Double, maximum: Double) {
    if lost < 0 { model.takeBack(lost: -lost) }
    let fraction = min(max(0, lost / total), 1)
    // What is sent again goes beyond the target. Counted here, it would explain the loss that it comes from.
    let sendingRate = fraction < 1 ? min(arrivedBits / seconds / (1 - fraction), highestTarget) : highestTarget
    let arrivalRate = sendingRate * (1 - fraction)
    model.add(
      LossModel.Observation(
        lost: fraction * total, received: (1 - fraction) * total, sendingRate: sendingRate, hasQueue: sawQueue))
    isCongestion = sawQueue && fraction > LossModel.largestInherentLossWithQueue
    let present = min(bitsPerSecond, target)
    var best = present
    let isMoreThanInherent = model.fractionLost > LossModel.largestInherentLoss
    // Without a queue the model would be misled: what is lost is sent again, so that where more is lost more is sent, too.
    if !model.isWithoutLoss, sawQueue || isMoreThanInherent {
      var likelihood = model.likelihood(bandwidth: present) + Self.margin
      for candidate in [present * Self.step, arrivalRate] where candidate < present && candidate > 0 {
        let other = model.likelihood(bandwidth: candidate)
        if other > likelihood { (best, likelihood) = (candidate, other) }
      }
    }
    if isMoreThanInherent, model.hasEnough {
      let limit = Self.hopelessBitsPerSecond / (model.fractionLost - LossModel.largestInherentLoss)
      best = min(best, max(limit, present * (1 - fraction)))
    }
    if best < present {
      isCongestion = true
      bitsPerSecond = max(minimum, best)
    } else if fraction < Self.toleratedWhenGrowing {
      raise(by: Self.growth, seconds: seconds, maximum: maximum)
    } else if !sawQueue {
      raise(by: Self.growthUnderLoss, seconds: seconds, maximum: maximum)
    }
  }

  /// Where a larger bound explains what was lost no worse.
  private mutating func raise(by growth: Double, seconds: Double, maximum: Double) {
    let larger = min(maximum, bitsPerSecond * (1 + growth * min(seconds, 1)))
    guard larger > bitsPerSecond else { return }
    if model.isWithoutLoss || model.likelihood(bandwidth: larger) >= model.likelihood(bandwidth: bitsPerSecond) {
      bitsPerSecond = larger
    }
  }
}
