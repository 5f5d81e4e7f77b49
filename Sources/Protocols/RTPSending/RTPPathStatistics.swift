public import Wire

/// What a sender knows of the path to its peer.
public struct RTPPathStatistics: Hashable, Sendable {
  /// What the path is thought to carry, bits per second.
  public var estimate: Double
  /// What may be sent now, bits per second: less than the estimate while a queue drains, and within the configured
  /// limits. `availableOutgoingBitrate` of W3C webrtc-stats.
  public var target: Double
  /// How long packets wait on the path, more than on the empty one; nil without transport-wide feedback.
  public var standingQueue: Duration?
  /// Bursts of padding, and those of them that arrived at about their rate.
  public var probesSent: UInt64
  public var probesSucceeded: UInt64
  /// By the peer's reports (RFC 3550 section 6.4.1), smoothed; nil before the first measurement.
  public var roundTripTime: Duration?
  /// Of what was sent in the last one to four seconds that feedback is about, 0...1.
  public var fractionLost: Double
  /// How many earlier packets each packet of sound repeats (RFC 2198).
  public var soundCopies: Int
  /// Whether a queue, loss or missing feedback has just shown that it carries less than was sent.
  public var isCongested: Bool

  public init(
    estimate: Double, target: Double, standingQueue: Duration?, probesSent: UInt64, probesSucceeded: UInt64,
    roundTripTime: Duration?, fractionLost: Double, soundCopies: Int, isCongested: Bool
  ) {
    self.estimate = estimate
    self.target = target
    self.standingQueue = standingQueue
    self.probesSent = probesSent
    self.probesSucceeded = probesSucceeded
    self.roundTripTime = roundTripTime
    self.fractionLost = fractionLost
    self.soundCopies = soundCopies
    self.isCongested = isCongested
  }
}

extension RTPSender {
  /// A snapshot of the path.
  public func pathStatistics(now: Instant) -> RTPPathStatistics {
    return RTPPathStatistics(
      estimate: estimator.estimate, target: estimator.target, standingQueue: estimator.standingQueue,
      probesSent: estimator.probing.sentCount, probesSucceeded: estimator.probing.succeededCount,
      roundTripTime: leastRoundTripTime, fractionLost: recentLoss.fraction,
      soundCopies: repeatsSound ? soundCopies : 0, isCongested: estimator.isCongested(at: now))
  }

  /// Whether it may find out if the path carries more. Those who share an interface take turns: a burst of one looks like a
  /// queue to another, and two at once find half of what there is.
  public var mayProbe: Bool {
    get { estimator.probing.mayStart }
    set { estimator.probing.mayStart = newValue }
  }

  /// Whether it would probe now if it were allowed to.
  public var wantsProbe: Bool { estimator.probing.isWaiting }

  /// Of what was sent in the last ten seconds that feedback is about, what was lost, 0...1.
  public func fractionLost(now: Instant) -> Double { recentLoss.longFraction(now: now) }

  /// Of the streams' smoothed ones: sound reports less often than picture, and may be behind.
  var leastRoundTripTime: Duration? {
    var least: Duration?
    for stream in streams {
      guard let time = stream.roundTripTime else { continue }
      least = least.map { min($0, time) } ?? time
    }
    return least
  }

  private var repeatsSound: Bool {
    streams.contains { $0.configuration.kind == .audio && $0.configuration.redPayloadType != nil }
  }
}
