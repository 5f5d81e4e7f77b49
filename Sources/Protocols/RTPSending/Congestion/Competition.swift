import Wire

/// Others fill the path's queue, and give way to nothing but loss: a download, a backup. Who gives way to the delay that they make
/// is left with nothing, so meanwhile the rate is what TCP would reach by the loss and the round trip that both see (RFC 5348).
struct Competition: Sendable {
  private enum State: Sendable {
    /// Nobody is known to be there. A queue that stands is no sign of them for a while after it proved to be none.
    case alone(notBefore: Instant)
    /// More is sent than the delay allows. If then more arrives than did, bits per second, somebody made room.
    case trying(arrived: Double, until: Instant)
    case shared(until: Instant)
  }

  private var state = State.alone(notBefore: Instant(nanoseconds: .min))
  /// What arrived when a queue stood, bits per second: the most lately, and when.
  private var peak: (rate: Double, at: Instant)?
  /// Of what is sent, what begins a loss event, 0...1.
  private var eventShare = 0.0
  private var eventAt = Instant(nanoseconds: .min)

  /// A queue that stands again although so much less arrives than when one stood before: behind active queue management it is never
  /// long (`behindPIENeitherStarves`).
  private static let fall = 0.8
  /// A path that becomes slower at once does so within this time.
  private static let fallTime = Duration.seconds(2)
  private static let peakMemory = Duration.seconds(20)
  /// A path that becomes slower all the time has the same sign (`aPathThatBecomesSlowerIsNotTakenForAShared`).
  private static let trial = Duration.milliseconds(1200)
  private static let gain = 1.1
  private static let refutedMemory = Duration.seconds(20)
  private static let memory = Duration.seconds(60)
  /// Packets, over which loss events are counted.
  private static let smoothing = 500.0
  /// A queue that is kept full loses some.
  private static let leastEventShare = 0.003
  private static let withoutTimeouts = 0.9
  /// Of what arrives: whether more would is not known.
  private static let borneOut = 1.15

  var isKnown: Bool { if case .alone = state { false } else { true } }

  /// Counts loss events: all that is lost within a round trip is one (RFC 5348 section 5.2).
  ///
  /// - Parameter arriving: bits per second; nil while unknown.
  mutating func note(_ result: TransportFeedbackResult, arriving: Double?, roundTripTime: Duration, now: Instant) {
    switch state {
    case .trying(let arrived, let until) where now >= until:
      let isBorneOut = arriving ?? 0 >= arrived * Self.gain
      state = isBorneOut ? .shared(until: now + Self.memory) : .alone(notBefore: now + Self.refutedMemory)
    case .shared(let until) where now >= until: end(now: now)
    default: break
    }
    let total = Double(result.acknowledged.count + result.lost)
    guard total > 0 else { return }
    var events = 0.0
    for packet in result.lostPackets where packet.sentAt > eventAt + roundTripTime {
      events += 1
      eventAt = packet.sentAt
    }
    eventShare += (events / total - eventShare) * min(1, total / Self.smoothing)
  }

  /// A short queue stands.
  ///
  /// - Parameters:
  ///   - arriving: bits per second.
  ///   - limitOrigin: what was sent before loss showed a limit, bits per second; nil: there is none.
  mutating func noteQueue(arriving: Double, limitOrigin: Double?, now: Instant) {
    if let limitOrigin, peak.map({ now - $0.at >= Self.peakMemory }) ?? true {
      peak = (limitOrigin, now - Self.peakMemory / 2)
    }
    guard let peak, now - peak.at < Self.peakMemory, arriving < peak.rate else {
      peak = (arriving, now)
      return
    }
    guard case .alone(let notBefore) = state, now >= notBefore, now - peak.at > Self.fallTime,
      arriving < peak.rate * Self.fall, eventShare > Self.leastEventShare
    else { return }
    begin(arriving: arriving, now: now)
  }

  /// A queue stays whatever is sent, of which so much arrives, bits per second.
  mutating func begin(arriving: Double, now: Instant) {
    peak = nil
    if case .shared = state {
      state = .shared(until: now + Self.memory)
    } else {
      state = .trying(arrived: arriving, until: now + Self.trial)
    }
  }

  /// A long queue goes when less is sent: it is ours, and what arrived before says nothing any more.
  mutating func end(now: Instant) {
    peak = nil
    switch state {
    case .alone: break
    case .trying: state = .alone(notBefore: now + Self.refutedMemory)
    case .shared: state = .alone(notBefore: now)
    }
  }

  /// What may be sent whatever the delay, bits per second; nil: nobody is there, or no loss says how much.
  func share(arriving: Double?, roundTripTime: Duration) -> Double? {
    guard isKnown, let arriving, eventShare > Self.leastEventShare else { return nil }
    // RFC 5348 section 3.1, without the term of the timeouts, which today's TCP hardly has.
    let asTCP =
      Self.withoutTimeouts * BandwidthEstimator.fullPacketBits
      / (max(roundTripTime.inSeconds, 0.01) * (eventShare * 2 / 3).squareRoot())
    return min(asTCP, arriving * Self.borneOut + BandwidthEstimator.fullPacketBits)
  }
}
