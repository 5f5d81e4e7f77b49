import RTP
import Wire

/// Estimates the bandwidth available to one peer: the minimum of a bound by delay (with transport-wide feedback) and one by loss,
/// but never less than what TCP would have beside us; without such feedback, the bound by loss and the peer's own (REMB). Constant
/// cost per packet.
struct BandwidthEstimator: Sendable {
  private let configuration: RTPSenderConfiguration
  private(set) var history = TransportHistory()
  /// What was sent before went another way.
  private var pathBegan = Instant(nanoseconds: .min)
  private var queue = StandingQueue()
  private var stall = ArrivalStall()
  private var arriving = AcknowledgedRate()
  /// Over a second: of batches, a shorter time has one more or less.
  private var arrivingInBatches = AcknowledgedRate(slot: .milliseconds(50))
  private var delayBased: DelayBasedRate
  private(set) var lossBased: LossBasedRate
  private var drain = QueueDrain()
  private var queueTrial = QueueTrial()
  private(set) var competition = Competition()
  var probing = Probing()
  private var receiverMaximum = ReceiverMaximum()
  /// Over two seconds, without transport-wide feedback.
  private var sending = AcknowledgedRate(slot: .milliseconds(100))
  private var sendingPicture = AcknowledgedRate(slot: .milliseconds(100))
  private var roundTripTime = Duration.milliseconds(100)
  /// What arrives, bits per second; nil while that is not known.
  private var carried: (acknowledged: Double?, recent: Double?)
  /// The last report block, without transport-wide feedback.
  private var reportedAt: Instant?
  private var silence = FeedbackSilence()
  private var usesTransportFeedback = false
  private var lossCountsFrom = Instant(nanoseconds: .min)
  private var congestedUntil = Instant(nanoseconds: .min)

  /// What is sent fills the path from this share of it on.
  private static let fullShare = 0.15
  /// A fall to less than this share is worth coming back from by a probe.
  private static let noticedDrop = 0.75
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
  /// Who sends less than this share of what is useful wants to know whose a queue is.
  private static let littleShare = 0.5

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
    fresh.probing = probing.onNewPath()
    self = fresh
  }

  /// What the path is thought to carry, bits per second.
  var estimate: Double {
    guard usesTransportFeedback else { return min(lossBased.bitsPerSecond, receiverMaximum.bitsPerSecond ?? .infinity) }
    return max(min(delayBased.bitsPerSecond, lossBased.bitsPerSecond), min(fairShare ?? 0, configuration.useful))
  }

  /// What may be sent however long the queue is, because others fill it; bits per second.
  private var fairShare: Double? {
    competition.share(arriving: carried.acknowledged, roundTripTime: roundTripTime)
  }

  /// What may be sent now, bits per second, between the configured limits.
  var target: Double {
    min(
      max(
        min(estimate, drain.bitsPerSecond ?? .infinity, queueTrial.bitsPerSecond ?? .infinity), configuration.minimum),
      configuration.maximum)
  }

  /// About what the largest picture and the sound need.
  var isAmple: Bool { target >= configuration.useful * Self.ampleShare }

  /// How long packets wait on the path; nil without transport-wide feedback.
  var standingQueue: Duration? {
    usesTransportFeedback ? .nanoseconds(Int64(saturating: queue.milliseconds * 1e6)) : nil
  }

  /// What repair is measured by, bits per second.
  var repairTarget: Double { max(target, min(delayBased.bitsPerSecond, lossBased.withoutLook)) }

  /// Whether a queue, congestion loss or missing feedback was seen recently, so that bursts should be avoided.
  func isCongested(at now: Instant) -> Bool { now < congestedUntil }

  /// The same for longer: on a path that was congested a while ago, a key frame at once would be so again.
  func needsPacing(at now: Instant) -> Bool { now < congestedUntil + Self.pacingMemory }

  mutating func forgetPackets() {
    history.forgetPackets()
  }

  /// - Parameters:
  ///   - media: nil for padding.
  ///   - bytes: with all headers.
  mutating func noteSent(_ sequenceNumber: UInt16, media: MediaReference?, bytes: Int, now: Instant) {
    let burst = probing.noteSent(bytes: bytes, now: now)
    history.noteSent(sequenceNumber, media: media, bytes: bytes, burst: burst, now: now)
    if usesTransportFeedback { silence.noteSent(now: now) }
    sending.add(bytes: bytes, arrivedAt: now.nanoseconds)
  }

  /// A packet is sent that no transport-wide feedback will mention.
  mutating func noteSentUnnumbered(bytes: Int, kind: RTPMediaKind, now: Instant) {
    sending.add(bytes: bytes, arrivedAt: now.nanoseconds)
    if kind == .video { sendingPicture.add(bytes: bytes, arrivedAt: now.nanoseconds) }
  }

  /// Gives back what the feedback says about our packets.
  mutating func handle(_ feedback: RTCPTransportFeedback, now: Instant) -> TransportFeedbackResult {
    let result = history.handle(feedback)
    // Feedback that matches no packet we sent is not a sign of life. Nor is what went another way.
    guard let sentAt = result.acknowledged.first?.sentAt ?? result.lostPackets.first?.sentAt, sentAt >= pathBegan else {
      return result
    }
    if !usesTransportFeedback {
      usesTransportFeedback = true
      lossBased = LossBasedRate(bitsPerSecond: configuration.maximum, minimum: configuration.minimum)
      probing.begin(now: now)
    }
    if silence.end() {
      // The path is back. What was lost and late while it was away says nothing about what it carries now.
      forgetRates()
      lossCountsFrom = now + FeedbackSilence.step
    }
    let before = target
    let state = measure(result.acknowledged, now: now)
    competition.note(result, arriving: carried.acknowledged, roundTripTime: roundTripTime, now: now)
    delayBased.update(
      queue: state, acknowledged: carried.acknowledged, maximum: configuration.maximum, now: now)
    if state == .standing { noteQueue(before: before, now: now) }
    drainQueue(isStanding: state == .standing, before: before, now: now)
    let isOthers = queueTrial.update(
      milliseconds: queue.steadyMilliseconds, slackMilliseconds: queue.slackMilliseconds,
      isInteresting: target < configuration.useful * Self.littleShare,
      arriving: carried.acknowledged, now: now)
    if isOthers { takeQueueForPath(rate: target, now: now) }
    if now >= lossCountsFrom { addLoss(LossTally(result, hasQueue: state == .standing || !isEmpty), now: now) }
    if target < before * Self.noticedDrop { probing.noteDrop(from: before, now: now) }
    if let rate = probing.noteArrived(result.acknowledged, now: now), !isCongested(at: now) {
      delayBased.raise(to: min(rate, configuration.maximum))
      lossBased.raise(to: min(rate, configuration.maximum))
    }
    startProbe(now: now)
    return result
  }

  /// What the packets say about the path; gives back the longest queue that they met.
  private mutating func measure(_ packets: [AcknowledgedPacket], now: Instant) -> StandingQueue.State {
    queue.slackMilliseconds = min(Self.longestSlackMilliseconds, Self.smallPacketBits * 1000 / target)
    queue.comesInBatches = stall.isRegular
    var isStanding = false
    for packet in packets {
      switch stall.add(packet) {
      case .heldUp: continue
      case .over: forgetRates()
      case .telling: break
      }
      // On a narrow path every full packet looks like a batch.
      queue.add(packet, batchBegan: target < Self.narrowBitsPerSecond ? nil : stall.batchBegan)
      arriving.add(bytes: packet.bytes, arrivedAt: packet.arrivedAt)
      arrivingInBatches.add(bytes: packet.bytes, arrivedAt: packet.arrivedAt)
      isStanding = isStanding || queue.state == .standing
    }
    let batches = arrivingInBatches.bitsPerSecond
    carried = stall.isRegular ? (batches, batches) : (arriving.bitsPerSecond, arriving.recentBitsPerSecond)
    return isStanding ? .standing : queue.state
  }

  private mutating func forgetRates() {
    arriving = AcknowledgedRate()
    arrivingInBatches = AcknowledgedRate(slot: .milliseconds(50))
  }

  /// A queue stands. That of others is none that sending less would end.
  ///
  /// - Parameter before: what the path was thought to carry, bits per second.
  private mutating func noteQueue(before: Double, now: Instant) {
    congestedUntil = now + Self.congestionMemory
    if let arriving = carried.recent {
      let isPathFull = (sending.recentBitsPerSecond ?? 0) >= before * Self.fullShare
      probing.noteQueue(arriving: arriving, isPathFull: isPathFull, now: now)
    }
    guard drain.bitsPerSecond == nil, let arriving = carried.acknowledged else { return }
    competition.noteQueue(arriving: arriving, limitOrigin: lossBased.limitOrigin, now: now)
  }

  private mutating func drainQueue(isStanding: Bool, before: Double, now: Instant) {
    let verdict = drain.update(
      isStanding: isStanding, queueMilliseconds: queue.steadyMilliseconds - queue.toleratedMilliseconds,
      arriving: carried.recent, sending: sending.recentBitsPerSecond, rate: min(before, carried.acknowledged ?? before),
      now: now)
    switch verdict {
    case .none: break
    case .draining(let path):
      delayBased.lower(to: max(configuration.minimum, path * DelayBasedRate.decrease))
      congestedUntil = now + Self.congestionMemory
      competition.end(now: now)
    case .drained(let path?):
      competition.end(now: now)
      delayBased.settle(below: min(path, configuration.maximum))
      lossBased.settle(at: min(path * DelayBasedRate.decrease, configuration.maximum), now: now)
    case .drained(nil): break
    case .notOurs(let rate): takeQueueForPath(rate: rate, now: now)
    }
  }

  /// The queue is not ours. Before it was noticed, so many bits per second were sent.
  private mutating func takeQueueForPath(rate: Double, now: Instant) {
    queue.takeForPath()
    competition.begin(arriving: carried.acknowledged ?? rate, now: now)
    delayBased.raise(to: rate * DelayBasedRate.decrease)
    congestedUntil = min(congestedUntil, now)
    probing.hasten(now: now)
  }

  private mutating func startProbe(now: Instant) {
    // What arrives in batches, or out of a bucket, does not tell how fast a burst went.
    let isCalm = !stall.isRegular && !lossBased.isLimited && isEmpty && !isCongested(at: now)
    probing.startIfDue(target: target, ceiling: configuration.useful, isCalm: isCalm, now: now)
  }

  /// There is no queue on the path worth mentioning.
  private var isEmpty: Bool { queue.steadyMilliseconds < Self.lossyQueueMilliseconds + queue.toleratedMilliseconds }

  /// A report block about one of our streams; used only without transport-wide feedback.
  mutating func handleReport(fractionLost: Double, expected: Double, now: Instant) {
    guard !usesTransportFeedback else { return }
    let seconds = reportedAt.map { (now - $0).inSeconds } ?? 0
    reportedAt = now
    // A report does not say whether there is a queue: where REMB does not, either, assume one.
    addLoss(
      LossTally(
        lost: fractionLost * expected, total: expected, runs: fractionLost * expected,
        arrivedBits: (sending.bitsPerSecond ?? target) * seconds * (1 - fractionLost),
        hasQueue: receiverMaximum.seesQueue(at: now) ?? true),
      now: now)
  }

  /// - Parameter fractionLost: of the last seconds, 0...1.
  mutating func handleReceiverMaximum(bitsPerSecond: UInt64, fractionLost: Double, now: Instant) {
    guard !usesTransportFeedback else { return }
    // aiortc reports for each stream, and only for the picture.
    let arriving = sendingPicture.bitsPerSecond.map { $0 * (1 - fractionLost) }
    receiverMaximum.update(rate: Double(bitsPerSecond), arriving: arriving, now: now)
    if receiverMaximum.seesQueue(at: now) == true { congestedUntil = max(congestedUntil, now + Self.congestionMemory) }
  }

  mutating func noteRoundTripTime(_ time: Duration) {
    roundTripTime = time
  }

  private mutating func addLoss(_ tally: LossTally, now: Instant) {
    lossBased.add(tally, target: target, maximum: configuration.maximum, roundTripTime: roundTripTime, now: now)
    if lossBased.isLimited { congestedUntil = max(congestedUntil, now + Self.congestionMemory) }
  }

  /// Lowers the estimate while feedback is missing.
  mutating func handleTimeout(now: Instant) {
    guard let bound = silence.bound(rate: delayBased.bitsPerSecond, target: target, now: now) else { return }
    probing.noteDrop(from: target, now: now)
    delayBased.lower(to: max(configuration.minimum, bound))
    congestedUntil = now + Self.congestionMemory
  }

  var nextDeadline: Instant? { silence.deadline }
}
