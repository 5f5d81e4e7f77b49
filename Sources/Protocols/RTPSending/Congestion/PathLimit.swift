import Wire

/// What a path was found to carry: beyond it, it drops what is sent.
struct PathLimit: Sendable {
  /// What arrived while more was sent, bits per second.
  let bitsPerSecond: Double
  /// What was sent before it was found, bits per second: where the rate returns to if the limit proves to be none.
  let origin: Double
  /// So much was lost that no radio explains it: what comes at once is lost as a whole.
  let isHard: Bool
  /// What has been sent beyond that since, without loss.
  private var excessBits = 0.0

  /// Per second, beyond the limit. A bucket takes it for some seconds, so that the limit is overshot by little when it is empty.
  private static let growthBeyond = 0.02
  /// Once so much arrives, it grows no more: when the bucket is empty, what is lost can be sent again (`aPolicersLimitIsFollowed`).
  private static let excess = 1.1
  /// Of what arrives. Encoders leave a sixth of the target unused, so that 1.2 is where it stays (`whenADownloadEndsThePathIsUsedAgain`).
  private static let borneOut = 1.35
  /// No policer's bucket holds more than so many seconds of its rate: if this much has passed beyond the limit, it is no longer
  /// there. `nft limit` holds one second and its burst.
  private static let largestBucket = 1.3

  /// - Parameters:
  ///   - arriving: bits per second, while more was sent.
  ///   - origin: bits per second that were sent before.
  ///   - earlier: the limit that was known then. A lower one may be chance, so it counts half (`aPolicerOnALossyRadioIsFollowedToo`), as
  ///     a smaller window does in RFC 9438 section 4.7.
  init(arriving: Double, origin: Double, isHard: Bool, after earlier: PathLimit?) {
    bitsPerSecond = earlier.map { max(arriving, (arriving + $0.bitsPerSecond) / 2) } ?? arriving
    self.origin = earlier?.origin ?? origin
    self.isHard = isHard || earlier?.isHard == true
  }

  /// More has passed beyond it than any bucket holds.
  var isRefuted: Bool { excessBits > Self.largestBucket * bitsPerSecond }

  /// What may be sent more, per second.
  ///
  /// - Parameters:
  ///   - rate: bits per second that may be sent now.
  ///   - free: the growth where there is no limit.
  mutating func growth(_ observed: LossTally, rate: Double, roundTripTime: Duration, free: Double) -> Double {
    excessBits = max(0, excessBits + observed.arrivedBits - bitsPerSecond * observed.seconds)
    if isRefuted { return free }
    guard rate < bitsPerSecond else {
      return observed.arrivalRate < bitsPerSecond * Self.excess ? Self.growthBeyond : 0
    }
    // A packet for each response: as TCP beside it does, and as draft-ietf-rmcat-gcc-02 section 5.5 has it near the capacity.
    let response = roundTripTime.inSeconds + 0.1
    return min(free, BandwidthEstimator.fullPacketBits / response / rate)
  }

  /// The most that may be sent, bits per second: what has passed before, and a little more than what passes now. A picture that
  /// needs less shows nothing beyond that.
  func bound(arriving: Double) -> Double { max(bitsPerSecond, arriving * Self.borneOut) }

  /// Some is lost again.
  mutating func noteLoss() { excessBits = 0 }
}
