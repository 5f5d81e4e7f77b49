import Wire

/// One look whether less is lost where less is sent.
struct LossTrial: Sendable {
  enum Verdict: Hashable, Sendable {
    /// What left at the lower rate has not been seen for long enough.
    case undecided
    /// Less is lost: the path's limit is found.
    case limit
    /// It made no difference, though more is lost than most radios lose: a larger step is needed to be sure.
    case further
    /// The path loses this share at any rate, 0...1.
    case inherent(Double)
  }

  /// At the rate before.
  private(set) var before: LossTally
  private var after = LossTally()
  /// What is sent since then left at the lower rate.
  private var countsFrom: Instant
  /// Bits per second that may be sent meanwhile.
  private(set) var rate: Double
  /// Bits per second: where the rate returns to if it makes no difference.
  let returnsTo: Double
  /// The limit that had been found before.
  let limit: PathLimit?
  /// The step is a large one: nothing else may hide what it is for.
  private(set) var isSecond: Bool

  /// What is sent, of what arrives. The second step is wide enough for others on the path to have what they want as well: they
  /// may have taken all of the first.
  static let step = 0.85
  private static let secondStep = 0.6
  /// Where as much is lost, the second step is the first.
  private static let heavy = 0.3
  /// Until less is sent: what was lost before is sent again first, and the encoder may have to begin a smaller picture. Where a
  /// limit is known, the steps are small.
  private static let settling = Duration.milliseconds(1200)
  private static let settlingAtLimit = Duration.milliseconds(300)
  /// Seconds.
  private static let look = 1.0
  /// Most radios lose this at most, and so many bits per second: the bound of inherent loss in libwebrtc's loss_based_bwe_v2.
  private static let usual = 0.05
  private static let usualBitsPerSecond = 75_000.0
  /// Standard deviations that chance may make, until a limit has been found and since then.
  private static let doubt = 2.5
  private static let doubtAtLimit = 1.5

  init(after before: LossTally, from rate: Double, limit: PathLimit?, roundTripTime: Duration, now: Instant) {
    (self.before, returnsTo, self.limit) = (before, rate, limit)
    isSecond = before.fractionLost > Self.heavy && limit == nil
    self.rate = min(rate, before.arrivalRate) * (isSecond ? Self.secondStep : Self.step)
    countsFrom = now + roundTripTime + (limit == nil ? Self.settling : Self.settlingAtLimit)
  }

  mutating func add(_ observed: LossTally, began: Instant, inherent: Double) -> Verdict {
    guard began >= countsFrom else { return .undecided }
    after += observed
    guard after.seconds >= Self.look else { return .undecided }
    if before.isClearlyMore(than: after, deviations: limit == nil ? Self.doubt : Self.doubtAtLimit) { return .limit }
    let usual = inherent + Self.usual + Self.usualBitsPerSecond / max(after.arrivalRate, 1)
    if !isSecond, after.fractionLost > usual { return .further }
    var all = before
    all += after
    return .inherent(all.fractionLost)
  }

  /// Sends still less.
  mutating func goOn(roundTripTime: Duration, now: Instant) {
    isSecond = true
    rate = min(rate, after.arrivalRate) * Self.secondStep
    after = LossTally()
    countsFrom = now + roundTripTime + Self.settling
  }

  /// So much was lost that hardly any radio explains it.
  var isHeavy: Bool { before.fractionLost > Self.heavy }

  /// Of what was seen since the step, 0...1.
  var fractionLost: Double { after.fractionLost }
}
