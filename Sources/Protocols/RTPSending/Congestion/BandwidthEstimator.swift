import RTP
import Wire

/// Estimates the bandwidth available to one peer: the minimum of a delay-based estimate (with transport-wide feedback),
/// a loss-based one, and the peer's own (REMB, without such feedback). Constant cost per packet.
struct BandwidthEstimator: Sendable {
  private let configuration: RTPSenderConfiguration
  private var history = TransportHistory()
  /// What was sent before went another way.
  private var pathBegan = Instant(nanoseconds: .min)
  private var trend = DelayTrend()
  private var stall = ArrivalStall()
  private var arriving = AcknowledgedRate()
  /// Over a second: of batches, a shorter time has one more or less.
  private var arrivingInBatches = AcknowledgedRate(slot: .milliseconds(50))
  private var delayBased: DelayBasedRate
  private var lossBased: LossBasedRate
  private var drain = QueueDrain()
  private var probing = Probing()
  private var receiverMaximum = ReceiverMaximum()
  /// Over two seconds.
  private var sending = AcknowledgedRate(slot: .milliseconds(100))
  private var roundTripTime = Duration.milliseconds(100)
  private var leastRoundTripTime: Duration?
  /// What arrives, bits per second, when it last said what the path carries. It does not after pictures were held back.
  private var carried: (acknowledged: Double?, recent: Double?)
  private var understatedUntil = Instant(nanoseconds: .min)
  /// Pictures have been held back in this drain. What arrives is set aside for that once in each drain: where other senders
  /// keep the queue going, nothing else tells what the path carries.
  private var heldPictures = false
  /// The last report block, without transport-wide feedback.
  private var reportedAt: Instant?
  /// No more than this may be sent, bits per second; nil: no bound. See `CircuitBreaker`.
  var congestionLimit: Double?

  /// Missing feedback while packets are being sent counts as congestion, too.
  private var feedbackAt: Instant?
  private var firstUnansweredAt: Instant?
  private var silenceCheckAt: Instant?
  /// What the silence may lower the estimate to; nil without one.
  private var silenceFloor: Double?
  private var lossCountsFrom = Instant(nanoseconds: .min)
  private var congestedUntil = Instant(nanoseconds: .min)

  /// Of what arrives while a queue drains, for the time after. draft-ietf-rmcat-gcc-02 section 5.5, beta.
  private static let drainedShare = 0.85
  /// A fall to less than this share is worth coming back from by a probe.
  private static let noticedDrop = 0.75
  private static let silence = Duration.seconds(1)
  private static let silenceStep = Duration.milliseconds(500)
  /// Of the estimate, what a silence leaves of it. A path that carries nothing at all is interrupted, not narrow: when it
  /// is back, it mostly carries what it did before, and where it does not, the first feedback says so.
  private static let silenceShare = 0.25
  /// The queue that may remain for what is in flight, while a longer one drains.
  private static let shortQueue = Duration.milliseconds(150)
  /// A few packets may be in flight on any path.
  private static let leastInFlightBits = 3 * fullPacketBits
  private static let acknowledgedWindow = Duration.milliseconds(500)
  private static let congestionMemory = Duration.seconds(2)
  private static let pacingMemory = Duration.seconds(8)
  /// Loss with a longer queue than this is taken for buffer overflow.
  private static let lossyQueueMilliseconds = 30.0
  /// A packet of sound with its headers.
  private static let smallPacketBits = 2000.0
  /// A packet of 1200 bytes.
  static let fullPacketBits = 9600.0
  /// Below it a path is narrow: a full packet takes 50 ms or more.
  static let narrowBitsPerSecond = 200_000.0
  /// What is useful is a quarter more than what is sent.
  private static let ampleShare = 0.75
  private static let longestSlackMilliseconds = 60.0

  init(configuration: RTPSenderConfiguration) {
    self.init(configuration: configuration, bitsPerSecond: Double(configuration.startBitrateKbps) * 1000)
  }

  private init(configuration: RTPSenderConfiguration, bitsPerSecond: Double) {
    self.configuration = configuration
    let start = min(max(bitsPerSecond, configuration.minimum), configuration.maximum)
    delayBased = DelayBasedRate(bitsPerSecond: start)
    // Without transport-wide feedback this estimate grows from the start; with it, it is only an upper bound.
    lossBased = LossBasedRate(bitsPerSecond: start, minimum: configuration.minimum)
  }

  /// The peer is reached another way from now on: nothing that was measured before says anything about it. Relay to direct,
  /// Wi-Fi to cable.
  mutating func beginNewPath(now: Instant) {
    var fresh = Self(
      configuration: configuration, bitsPerSecond: min(target, Double(configuration.startBitrateKbps) * 1000))
    fresh.history = history
    fresh.pathBegan = now
    fresh.congestionLimit = congestionLimit
    fresh.probing = probing.onNewPath()
    self = fresh
  }

  private var usesTransportFeedback: Bool { feedbackAt != nil }

  /// What the path is thought to carry, bits per second.
  var estimate: Double {
    usesTransportFeedback
      ? min(delayBased.bitsPerSecond, lossBased.bitsPerSecond)
      : min(lossBased.bitsPerSecond, receiverMaximum.bitsPerSecond ?? .infinity)
  }

  /// What may be sent now, bits per second, between the configured limits.
  var target: Double {
    let bound = min(estimate, drain.bitsPerSecond ?? .infinity, congestionLimit ?? .infinity)
    return min(max(bound, configuration.minimum), configuration.maximum)
  }

  /// About what the largest picture and the sound need.
  var isAmple: Bool { target >= configuration.useful * Self.ampleShare }

  /// How long packets wait on the path; nil without transport-wide feedback.
  var standingQueue: Duration? {
    usesTransportFeedback ? .nanoseconds(Int64(saturating: trend.standingQueueMilliseconds * 1e6)) : nil
  }

  /// Bursts that probed the path, and those that it carried at about their rate.
  var probes: (sent: UInt64, succeeded: UInt64) { (probing.sentCount, probing.succeededCount) }

  /// Less is lost where less is sent: what is sent again is a part of that.
  var isLossLimited: Bool { lossBased.isLimited }
  /// What repair is measured by, bits per second.
  var repairTarget: Double { max(target, min(delayBased.bitsPerSecond, lossBased.withoutLook)) }
  /// See `LossBasedRate.limitsRepair`.
  var limitsRepair: Bool { lossBased.limitsRepair }
  /// Of what is sent, what the path loses at any rate, as far as is known.
  var inherentLoss: Double { lossBased.inherent }

  var wantsProbe: Bool { probing.isWaiting }
  var mayProbe: Bool {
    get { probing.mayStart }
    set { probing.mayStart = newValue }
  }

  /// Whether overuse, congestion loss or missing feedback was seen recently, so that bursts should be avoided.
  func isCongested(at now: Instant) -> Bool { now < congestedUntil }

  /// The same for longer: on a path that was congested a while ago, a key frame at once would be so again.
  func needsPacing(at now: Instant) -> Bool { now < congestedUntil + Self.pacingMemory }

  /// Whether new pictures wait: while a queue drains, no more may be in flight than the path carries in its least round trip
  /// and a short queue. They go on when feedback stops coming: without it, nothing would end the wait.
  var holdsPictures: Bool {
    guard let path = drain.pathBitsPerSecond, silenceFloor == nil else { return false }
    let time = (leastRoundTripTime ?? roundTripTime) + Self.shortQueue
    return Double(history.bytesInFlight * 8) > max(path * time.inSeconds, Self.leastInFlightBits)
  }

  /// A picture waits because of `holdsPictures`.
  mutating func notePictureHeld(now: Instant) {
    guard !heldPictures else { return }
    heldPictures = true
    understatedUntil = now + roundTripTime + Self.shortQueue + Self.acknowledgedWindow
  }

  /// Whether pictures have waited for that lately.
  func hasHeldPictures(at now: Instant) -> Bool { now < understatedUntil }

  mutating func forgetPackets() {
    history.forgetPackets()
  }

  /// - Parameters:
  ///   - media: nil for padding.
  ///   - bytes: with all headers.
  mutating func noteSent(_ sequenceNumber: UInt16, media: MediaReference?, bytes: Int, now: Instant) {
    let burst = probing.noteSent(bytes: bytes, now: now)
    history.noteSent(sequenceNumber, media: media, bytes: bytes, burst: burst, now: now)
    guard usesTransportFeedback, firstUnansweredAt == nil else { return }
    firstUnansweredAt = now
    silenceCheckAt = now + Self.silence
  }

  /// A packet is sent that no transport-wide feedback will mention.
  mutating func noteSentUnnumbered(bytes: Int, now: Instant) {
    sending.add(bytes: bytes, arrivedAt: now.nanoseconds)
  }

  /// What was sent before `limit`, and after all that feedback has reported, in the order of sending.
  func unansweredPackets(sentBefore limit: Instant) -> [LostPacket] {
    history.unansweredPackets(sentBefore: limit)
  }

  /// Gives back what the feedback says about our packets.
  mutating func handle(_ feedback: RTCPTransportFeedback, now: Instant) -> TransportFeedbackResult {
    let result = history.handle(feedback)
    // Feedback that matches no packet we sent is not a sign of life.
    // Nor is what went another way.
    guard let sentAt = result.acknowledged.first?.sentAt ?? result.lostPackets.first?.sentAt, sentAt >= pathBegan else {
      return result
    }
    if feedbackAt == nil {
      lossBased = LossBasedRate(bitsPerSecond: configuration.maximum, minimum: configuration.minimum)
      probing.begin(now: now)
    }
    feedbackAt = now
    let before = target
    firstUnansweredAt = nil
    silenceCheckAt = nil
    if silenceFloor != nil { endSilence(now: now) }
    var sawOveruse = false
    trend.slackMilliseconds = slackMilliseconds
    trend.comesInBatches = stall.isRegular
    let isNarrow = estimate < Self.narrowBitsPerSecond
    for packet in result.acknowledged {
      switch stall.add(packet, isNarrow: isNarrow) {
      case .heldUp: continue
      case .over: beginAnew()
      case .telling: break
      }
      // On a narrow path, the burst that asks whether it has become wide is a queue, for a moment.
      if !isNarrow || probing.shadow?.contains(packet.sentAt) != true { trend.add(packet) }
      arriving.add(bytes: packet.bytes, arrivedAt: packet.arrivedAt)
      arrivingInBatches.add(bytes: packet.bytes, arrivedAt: packet.arrivedAt)
      sawOveruse = sawOveruse || trend.usage == .overuse
    }
    if now >= understatedUntil {
      let batches = arrivingInBatches.bitsPerSecond
      carried = stall.isRegular ? (batches, batches) : (arriving.bitsPerSecond, arriving.recentBitsPerSecond)
    }
    // On a narrow path a burst is a queue, for a moment.
    delayBased.update(
      usage: sawOveruse ? .overuse : trend.usage, acknowledged: carried.acknowledged, roundTripTime: roundTripTime,
      maximum: configuration.maximum, isProbed: probing.succeededCount > 0 && !stall.isRegular,
      hasQueue: isNarrow || !isEmpty, now: now)
    if sawOveruse { congestedUntil = now + Self.congestionMemory }
    drainQueue(isOveruse: sawOveruse, now: now)
    if now >= lossCountsFrom {
      let arrivedBytes = result.acknowledged.reduce(0) { $0 + $1.bytes }
      addLoss(
        LossTally(
          lost: Double(result.lost - result.recovered),
          total: Double(max(0, result.lost + result.acknowledged.count - result.recovered)),
          runs: Double(result.lossRuns), arrivedBits: Double(arrivedBytes) * 8, hasQueue: sawOveruse || !isEmpty),
        now: now)
    }
    if target < before * Self.noticedDrop { probing.noteDrop(from: before, now: now) }
    if let rate = probing.noteArrived(result.acknowledged, now: now), !isCongested(at: now) {
      delayBased.raise(to: min(rate, configuration.maximum))
      lossBased.raise(to: min(rate, configuration.maximum))
    }
    startProbe(now: now)
    return result
  }

  /// The path is back. What was lost and late while it was away says nothing about what it carries now.
  private mutating func endSilence(now: Instant) {
    silenceFloor = nil
    beginAnew()
    lossCountsFrom = now + Self.silenceStep
  }

  private mutating func beginAnew() {
    trend.beginAnew()
    arriving = AcknowledgedRate()
    arrivingInBatches = AcknowledgedRate(slot: .milliseconds(50))
  }

  private mutating func drainQueue(isOveruse: Bool, now: Instant) {
    let verdict = drain.update(
      isOveruse: isOveruse,
      queueMilliseconds: trend.standingQueueMilliseconds, slackMilliseconds: slackMilliseconds,
      arriving: carried.recent, now: now)
    if drain.pathBitsPerSecond == nil { heldPictures = false }
    switch verdict {
    case .none: break
    case .draining(let path):
      delayBased.lower(to: max(configuration.minimum, path * Self.drainedShare))
      congestedUntil = now + Self.congestionMemory
    case .drained(let path?):
      trend.beginAnew()
      delayBased.settle(below: min(path, configuration.maximum), share: Self.drainedShare)
      lossBased.settle(at: min(path * Self.drainedShare, configuration.maximum), now: now)
    case .drained(nil): break
    case .notOurs:
      trend.takeQueueForPath()
      leastRoundTripTime = nil
      congestedUntil = min(congestedUntil, now)
      probing.hasten(now: now)
    }
  }

  private mutating func startProbe(now: Instant) {
    // What arrives in batches, or out of a bucket, does not tell how fast a burst went.
    let tells = !stall.isRegular && !isLossLimited && estimate <= congestionLimit ?? .infinity
    let isCalm = tells && isEmpty && !isCongested(at: now)
    probing.startIfDue(target: target, ceiling: configuration.useful, isCalm: isCalm, now: now)
  }

  /// There is no queue on the path worth mentioning.
  private var isEmpty: Bool { trend.steadyQueueMilliseconds < Self.lossyQueueMilliseconds + slackMilliseconds }

  private var slackMilliseconds: Double {
    min(Self.longestSlackMilliseconds, Self.smallPacketBits * 1000 / target)
  }

  /// When the next packet of padding is due, which probes the path; nil: none is.
  var nextPaddingAt: Instant? { probing.nextPacketAt }
  /// Its padding, 1...255 bytes.
  var paddingBytes: Int { probing.paddingBytes }

  /// A report block about one of our streams; used only without transport-wide feedback.
  mutating func handleReport(fractionLost: Double, expected: Double, now: Instant) {
    guard !usesTransportFeedback else { return }
    // A report does not say whether there is a queue: where REMB does not, either, assume one.
    let hasQueue = receiverMaximum.seesQueue(at: now) ?? true
    let seconds = reportedAt.map { (now - $0).inSeconds } ?? 0
    reportedAt = now
    addLoss(
      LossTally(
        lost: fractionLost * expected, total: expected, runs: fractionLost * expected,
        arrivedBits: (sending.bitsPerSecond ?? target) * seconds * (1 - fractionLost), hasQueue: hasQueue),
      now: now)
  }

  /// - Parameter fractionLost: of the last seconds, 0...1.
  mutating func handleReceiverMaximum(bitsPerSecond: UInt64, fractionLost: Double, now: Instant) {
    guard !usesTransportFeedback else { return }
    let arriving = sending.bitsPerSecond.map { $0 * (1 - fractionLost) }
    receiverMaximum.update(rate: Double(bitsPerSecond), arriving: arriving, now: now)
    if receiverMaximum.seesQueue(at: now) == true { congestedUntil = max(congestedUntil, now + Self.congestionMemory) }
  }

  mutating func noteRoundTripTime(_ time: Duration) {
    roundTripTime = time
    leastRoundTripTime = min(leastRoundTripTime ?? time, time)
  }

  private mutating func addLoss(_ tally: LossTally, now: Instant) {
    lossBased.add(tally, target: target, maximum: configuration.maximum, roundTripTime: roundTripTime, now: now)
    if isLossLimited { congestedUntil = max(congestedUntil, now + Self.congestionMemory) }
  }

  /// Lowers the estimate by a fifth after a second without feedback, and again every half second, to a quarter.
  mutating func handleTimeout(now: Instant) {
    guard let due = silenceCheckAt, now >= due else { return }
    silenceCheckAt = now + Self.silenceStep
    probing.noteDrop(from: target, now: now)
    let floor = max(configuration.minimum, silenceFloor ?? target * Self.silenceShare)
    silenceFloor = floor
    delayBased.lower(to: max(floor, delayBased.bitsPerSecond * 0.8))
    congestedUntil = now + Self.congestionMemory
  }

  var nextDeadline: Instant? { silenceCheckAt }
}
