import RTP
public import Wire

/// Sends media to one peer: sequence numbers, pacing, retransmission, sender reports, feedback and bandwidth
/// estimation. RFC 3550, RFC 4585, RFC 4588.
///
/// No clock, no socket: after each call the owner drains `poll(now:)` until it returns nil, and calls `handleTimeout`
/// at `nextDeadline`. Payloads are shared with other senders; packets are built when they are sent.
public struct RTPSender: Sendable {
  let configuration: RTPSenderConfiguration
  /// The wall clock for sender reports and capture times.
  public private(set) var wallClock: WallClockReference
  var random: any RandomNumberGenerator & Sendable

  var streams: [SendStream] = []
  private(set) var isStopped = false
  var outputs = FIFO<RTPSenderOutput>()
  var audioQueue = FIFO<QueuedPacket>()
  var videoQueue = FIFO<QueuedPacket>()
  var queuedVideoBytes = 0
  var retransmissionQueue = FIFO<(stream: Int, sequenceNumber: UInt16)>()
  var retransmissionBudget = RetransmissionBudget()
  /// In the order of `due`.
  var copies = FIFO<FurtherCopy>()
  var recentLoss = RecentLoss()
  /// What viewers are asked for instead of their stream's playout delay while packets are lost.
  var playoutDelayForLoss: PlayoutDelay?
  var referenceTimes = ReferenceTimes()
  var reordering = FeedbackReordering()
  var feedbackPace = FeedbackPace()
  /// How many were missing since the last one.
  var missingFeedbacks = 0
  /// When the next one will be missing; nil where little is lost.
  var missingFeedbackDue: Instant?
  /// What is lost, or no feedback has reported, and was not sent again yet: there was no budget for it, or little seemed to be
  /// lost.
  var unrepaired: [LostPacket] = []
  var nextStalenessCheck = Instant(nanoseconds: .min)
  /// How long the last key frame was in the queue; zero once what waited behind it has gone, unless the path is narrow.
  var keyFrameTook = Duration.zero
  var pacer: Pacer
  /// As of the last packet, or the last `poll` with packets waiting for the pacer; nil while the path is healthy.
  var pacingBitsPerSecond: Double?
  var estimator: BandwidthEstimator
  var nextTransportSequenceNumber: UInt16
  /// Target bitrate last announced to the owner, kbit/s.
  var announcedKbps: Int

  /// `random` provides the initial sequence numbers and timestamps, which should be unpredictable for SRTP.
  public init(
    configuration: RTPSenderConfiguration = .init(), wallClock: WallClockReference,
    random: any RandomNumberGenerator & Sendable
  ) {
    self.configuration = configuration
    self.wallClock = wallClock
    self.random = random
    pacer = Pacer(burstPackets: configuration.burstPackets, burstInterval: configuration.burstInterval)
    estimator = BandwidthEstimator(configuration: configuration)
    nextTransportSequenceNumber = UInt16(truncatingIfNeeded: self.random.next())
    announcedKbps = Int(saturating: estimator.target / 1000)
  }

  /// Updates the wall clock, which NTP may have adjusted. May be called at any rate.
  ///
  /// Receivers synchronize audio and video by the sender reports of both. After a clock step, all streams therefore
  /// report at once; otherwise they would appear out of sync by the step until the later report.
  public mutating func setWallClock(_ reference: WallClockReference, now: Instant) {
    let step = reference.unixNanoseconds(at: now) &- wallClock.unixNanoseconds(at: now)
    wallClock = reference
    guard !isStopped, step.magnitude > Self.noticedClockStep else { return }
    for index in streams.indices where streams[index].nextReport != nil {
      streams[index].captureTimeSentAt = nil
      queueReport(stream: index, now: now)
    }
  }

  /// Nanoseconds. Less is imperceptible.
  private static let noticedClockStep: UInt64 = 5_000_000

  /// Adds a stream with random initial sequence number and timestamp. A stream whose SSRC is already in use is ignored.
  public mutating func addStream(_ stream: RTPStreamConfiguration) {
    guard !isStopped, index(of: stream.ssrc) == nil else { return }
    streams.append(
      SendStream(configuration: stream, cachePackets: configuration.retransmissionCachePackets, random: &random))
  }

  /// The peer is reached another way: over a relay or no longer, over another network. What is known of the old path is
  /// forgotten.
  public mutating func beginNewPath(now: Instant) {
    estimator.beginNewPath(now: now)
    recentLoss = RecentLoss()
    playoutDelayForLoss = nil
    feedbackPace = FeedbackPace()
    missingFeedbackDue = nil
    for index in streams.indices { streams[index].forgetRoundTrip() }
    announceTarget()
  }

  /// Sets the highest temporal layer sent to this viewer; frames above it are dropped from now on. Raising it takes
  /// effect at the next frame where a decoder can switch up.
  public mutating func setMaximumTemporalLayer(_ layer: Int, ssrc: UInt32) {
    guard let index = index(of: ssrc) else { return }
    streams[index].layers.maximum = max(0, layer)
  }

  /// Drops all queued packets and sends BYE for all streams (RFC 3550 section 6.3.7). Nothing is sent afterwards.
  public mutating func stop(now: Instant) {
    guard !isStopped else { return }
    isStopped = true
    removeQueues()
    queueGoodbye(now: now)
  }

  /// Frees all packets, sent and unsent. Nothing is sent afterwards; the counters remain.
  public mutating func forgetPackets() {
    isStopped = true
    removeQueues()
    outputs.removeAll()
    for index in streams.indices { streams[index].cache = RetransmissionCache(capacity: 0) }
    estimator.forgetPackets()
  }

  private mutating func removeQueues() {
    audioQueue.removeAll()
    videoQueue.removeAll()
    queuedVideoBytes = 0
    retransmissionQueue.removeAll()
    copies.removeAll()
    unrepaired = []
    missingFeedbackDue = nil
  }

  /// Queues one frame (video) or packet (audio), already split into RTP payloads.
  ///
  /// - Parameters:
  ///   - mediaTime: in units of the stream's clock rate, before the random offset.
  ///   - captureTime: when it was captured; relates `mediaTime` to the clock that all streams share.
  ///   - marksLast: the last packet gets the marker bit (RFC 7741 section 4.1; for audio, see RFC 3551 section 4.1).
  ///   - temporalLayer: 0 is the base layer.
  ///   - source: the encoder of a video frame. The stream changes to another one at its key frame, with PictureID and
  ///     TL0PICIDX going on; until then frames of another one are dropped.
  public mutating func send(
    payloads: [[UInt8]], ssrc: UInt32, mediaTime: UInt32, captureTime: Instant, marksLast: Bool,
    temporalLayer: Int = 0, isKeyFrame: Bool = false, source: Int = 0, now: Instant
  ) {
    guard !isStopped, !payloads.isEmpty, let index = index(of: ssrc) else { return }
    let timestamp = mediaTime &+ streams[index].timestampOffset
    streams[index].clockPair = (captureTime, timestamp)
    let isVideo = streams[index].configuration.kind == .video
    if isVideo {
      guard
        admits(
          stream: index, payloads: payloads, temporalLayer: temporalLayer, isKeyFrame: isKeyFrame, source: source,
          now: now)
      else { return }
    }
    for (position, payload) in payloads.enumerated() {
      let isLast = position == payloads.count - 1
      let packet = QueuedPacket(
        stream: index, payload: payload, timestamp: timestamp, marker: marksLast && isLast,
        isFirstOfFrame: position == 0, isLastOfFrame: isLast, isKeyFrame: isKeyFrame, captureTime: captureTime,
        counterOffset: streams[index].counters.offset, enqueuedAt: now)
      if isVideo {
        queuedVideoBytes += payload.count
        videoQueue.append(packet)
      } else {
        audioQueue.append(packet)
      }
    }
    // Audio is sent on the next poll; this only bounds the queue when nobody polls.
    while audioQueue.count > Self.maximumQueuedAudioPackets { _ = audioQueue.popFirst() }
    // With media that is sent anyway, so that reports need no timer of their own.
    queueReports(dueBy: now + Self.soonEnough, now: now)
    giveUpStaleVideo(now: now)
  }

  private static let maximumQueuedAudioPackets = 100
  /// Sound comes every 20 ms.
  private static let soonEnough = Duration.milliseconds(25)

  private mutating func admits(
    stream: Int, payloads: [[UInt8]], temporalLayer: Int, isKeyFrame: Bool, source: Int, now: Instant
  ) -> Bool {
    let isChange = !streams[stream].counters.isCurrent(source)
    if streams[stream].awaitsKeyFrame || isChange {
      guard isKeyFrame else {
        streams[stream].statistics.framesDropped += 1
        return false
      }
      streams[stream].awaitsKeyFrame = false
      streams[stream].keyFrameRequestDue = nil
      if isChange, estimator.isCongested(at: now) { giveUpEarlierPictures(of: stream) }
    }
    guard streams[stream].layers.admits(layer: temporalLayer, isKeyFrame: isKeyFrame, firstPayload: payloads.first)
    else {
      streams[stream].counters.skip()
      streams[stream].statistics.framesAboveLayer += 1
      return false
    }
    streams[stream].counters.follow(payloads.first, of: source)
    return true
  }

  /// The next output at `now`; nil when everything else has to wait.
  public mutating func poll(now: Instant) -> RTPSenderOutput? {
    if let output = outputs.popFirst() { return output }
    guard !isStopped else { return nil }
    giveUpStaleVideo(now: now)
    if let output = outputs.popFirst() { return output }
    if let packet = audioQueue.popFirst() { return .rtp(makePacket(packet, now: now)) }
    if let padding = makePadding(now: now) { return .rtp(padding) }
    guard !retransmissionQueue.isEmpty || !videoQueue.isEmpty else { return nil }
    pacingBitsPerSecond = pacingRate(now: now)
    guard pacer.nextRelease(bitsPerSecond: pacingBitsPerSecond) <= now else { return nil }
    while let (stream, sequenceNumber) = retransmissionQueue.popFirst() {
      if let bytes = makeRetransmission(stream: stream, sequenceNumber: sequenceNumber, now: now) {
        return .rtp(bytes)
      }
    }
    guard let packet = videoQueue.popFirst() else { return nil }
    queuedVideoBytes -= packet.payload.count
    return .rtp(makePacket(packet, now: now))
  }

  /// On a narrow path a burst of pictures would stand before the sound for half a second.
  func pacingRate(now: Instant) -> Double? {
    let target = estimator.target
    if target < BandwidthEstimator.narrowBitsPerSecond { return target }
    if estimator.lossBased.dropsBursts { return target * Self.hardPacingFactor }
    if estimator.lossBased.isLimited { return target * Self.limitedPacingFactor }
    if estimator.competition.isKnown { return target * Self.sharedPacingFactor }
    let paced = target * configuration.congestedPacingFactor
    if estimator.needsPacing(at: now) { return paced }
    return configuration.leastPacingKbps.map { max(paced, Double($0) * 1000) }
  }

  /// A limit without a queue drops what comes at once: a policer's bucket may hold a few packets alone, less than a key frame
  /// (`aDownloadThatBeginsBehindAPolicerStopsThePictureForShort`). At 1.2 a download beside us has too little.
  private static let hardPacingFactor = 1.6
  /// A limit that less loss has shown may be a radio's chance, whose pictures must not wait.
  private static let limitedPacingFactor = 2.0
  /// What comes at once finds the queue that others keep full, and is lost as a whole (`besideADownloadNeitherStarves`).
  private static let sharedPacingFactor = 1.3

  /// Handles timers that are due at `now`; does nothing if none is.
  public mutating func handleTimeout(now: Instant) {
    guard !isStopped else { return }
    queueReports(dueBy: now, now: now)
    queueFurtherCopies(now: now)
    repairWithoutFeedback(now: now)
    estimator.handleTimeout(now: now)
    announceTarget()
    requestDueKeyFrames(now: now)
  }

  /// When `handleTimeout` and `poll` are due next; nil while there is nothing to do.
  public var nextDeadline: Instant? {
    guard !isStopped else { return nil }
    var next = estimator.nextDeadline
    for index in streams.indices {
      next.bringForward(to: streams[index].nextReport)
      next.bringForward(to: streams[index].keyFrameRequestDue)
    }
    next.bringForward(to: copies.first?.due)
    next.bringForward(to: missingFeedbackDue)
    if let padding = estimator.probing.nextPacketAt, paddingStream != nil { next.bringForward(to: padding) }
    if !audioQueue.isEmpty { next.bringForward(to: Instant(nanoseconds: .min)) }
    if !retransmissionQueue.isEmpty || !videoQueue.isEmpty {
      next.bringForward(to: pacer.nextRelease(bitsPerSecond: pacingBitsPerSecond))
    }
    return next
  }

  func index(of ssrc: UInt32) -> Int? {
    streams.firstIndex { $0.configuration.ssrc == ssrc }
  }
}
