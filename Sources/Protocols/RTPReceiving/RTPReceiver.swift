public import RTP
public import Wire

/// Receives the media of one peer: loss recovery, ordering of frames and audio, reports and feedback. RFC 3550, RFC
/// 4585, RFC 4588.
///
/// No clock, no socket: after each call the owner drains `poll(now:)` until it returns nil, and calls `handleTimeout`
/// at `nextDeadline`.
public struct RTPReceiver: Sendable {
  let configuration: RTPReceiverConfiguration
  var random: any RandomNumberGenerator & Sendable
  var streams: [ReceiveStream] = []
  var outputs = FIFO<RTPReceiverOutput>()
  /// Feedback of one call, sent together: in compound packets, and in reduced-size ones.
  var compoundFeedback: [RTCPPacket] = []
  var reducedSizeFeedback: [RTCPPacket] = []
  var transportFeedback: TransportFeedbackBuilder
  var nextReport: Instant?
  /// See `setSteadyDelay` and `setSoundOutputDelay`.
  var steadyDelay: Duration
  var soundOutputDelay: Duration?
  private(set) var roundTrip = RoundTripEstimate()
  /// Without what retransmissions show: one may have been on its way before it was asked for.
  private var lastRoundTrip: Duration?
  var referenceClock: ReferenceClock
  /// As the sender's answers to our reference times show it.
  private(set) var reportedRoundTrips = RoundTripCounters()

  /// Datagrams that were not RTP.
  public private(set) var malformedPackets: UInt64 = 0
  /// Packets whose source or payload type belongs to no stream.
  public private(set) var unknownPackets: UInt64 = 0

  private static let unmeasuredRoundTripTime = Duration.milliseconds(100)

  /// `random` randomizes the report intervals.
  public init(configuration: RTPReceiverConfiguration, random: any RandomNumberGenerator & Sendable) {
    self.configuration = configuration
    self.random = random
    steadyDelay = max(configuration.steadyDelay, .zero)
    referenceClock = ReferenceClock(random: &self.random)
    transportFeedback = TransportFeedbackBuilder(
      senderSSRC: configuration.senderSSRC, interval: configuration.transportFeedbackInterval)
  }

  /// Adds a media section. A peer has a handful.
  public mutating func addStream(_ stream: RTPReceiveStreamConfiguration) {
    streams.append(
      ReceiveStream(
        configuration: stream, limits: configuration, roundTripTime: roundTrip.smoothed ?? Self.unmeasuredRoundTripTime)
    )
    adoptRoundTripTime()
  }

  /// Takes a round-trip time measured by ICE or RTCP; call it once per measurement. NACKs are repeated at the pace of
  /// the smoothed value, which includes what retransmissions show; 100 ms until the first measurement.
  public mutating func noteRoundTripTime(_ time: Duration) {
    lastRoundTrip = time
    addRoundTripTime(time)
  }

  private mutating func addRoundTripTime(_ time: Duration) {
    roundTrip.add(min(max(time, .milliseconds(1)), .seconds(2)))
    adoptRoundTripTime()
  }

  private mutating func adoptRoundTripTime() {
    for index in streams.indices { streams[index].setRoundTripTime(roundTrip) }
    adoptLeastDelay(atOnce: false)
  }

  /// Handles a decrypted packet. Packets that are not RTP or belong to no stream are counted and dropped.
  public mutating func handle(rtp bytes: [UInt8], now: Instant) {
    guard let packet = try? RTPPacket(parsing: bytes) else {
      malformedPackets += 1
      return
    }
    guard let route = route(packet) else {
      unknownPackets += 1
      return
    }
    let index = route.stream
    let ssrc = packet.header.ssrc
    if streams[index].configuration.supportsTransportCC, let number = route.transportSequenceNumber {
      transportFeedback.noteArrival(number, mediaSSRC: ssrc, now: now)
    }
    guard !streams[index].isRetired(ssrc, now: now) else {
      streams[index].counters.packetsDiscarded += 1
      return
    }
    if !streams[index].has(source: ssrc) {
      for other in streams.indices where other != index { streams[other].disown(ssrc, now: now) }
    }
    streams[index].adopt(ssrc, role: route.role, now: now)
    if let asked = route.playoutDelay, asked != streams[index].playoutDelay {
      streams[index].playoutDelay = asked
      adoptLeastDelay(atOnce: false)
    }
    let received =
      switch route.role {
      case .primary: streams[index].receivePrimary(packet, byteCount: bytes.count, now: now)
      case .rtx: streams[index].receiveRetransmission(packet, byteCount: bytes.count, now: now)
      }
    if let received { handOut(received, of: index) }
    if let measured = streams[index].nacks.takeMeasuredRoundTrip() { addRoundTripTime(measured) }
    if nextReport == nil { scheduleFirstReport(now: now) }
    requestWhatIsMissing(stream: index, now: now)
    // Packets due soon then need no timer of their own.
    for index in streams.indices { streams[index].audio?.playWhatIsReady(now: now) }
    queueTransportFeedback(now: now)
    flushFeedback()
  }

  private mutating func handOut(_ received: VideoReception.Received, of index: Int) {
    streams[index].counters.framesReceived += received.completedFrames
    streams[index].counters.packetsDiscarded += received.discardedPackets
    for taken in received.frames {
      if taken.frame.isKeyFrame { streams[index].counters.keyFramesReceived += 1 }
      var frame = ReceivedVideoFrame(taken)
      frame.captureTime = streams[index].primary?.clock.captureTime(of: frame.rtpTimestamp)
      frame.mid = streams[index].configuration.mid
      outputs.append(.video(frame))
    }
  }

  /// Handles parsed RTCP from the peer: SR, SDES CNAME and BYE of the sources that we receive.
  public mutating func handle(rtcp packets: [RTCPPacket], now: Instant) {
    for packet in packets {
      switch packet {
      case .senderReport(let report):
        for index in streams.indices { streams[index].handle(report, roundTrip: lastRoundTrip, now: now) }
      case .sourceDescription(let description):
        for chunk in description.chunks {
          for index in streams.indices { streams[index].handle(chunk) }
        }
      case .goodbye(let goodbye):
        for source in goodbye.sources {
          for index in streams.indices where streams[index].handleGoodbye(of: source, now: now) {
            outputs.append(.goodbye(streams[index].configuration.kind))
          }
        }
      case .receiverReport, .nack, .transportFeedback, .pictureLossIndication, .fullIntraRequest,
        .receiverEstimatedMaximumBitrate:
        break
      case .extendedReport(let report):
        for answer in report.answers where answer.ssrc == configuration.senderSSRC {
          guard let time = referenceClock.roundTrip(answer, now: now) else { continue }
          reportedRoundTrips.add(time)
          noteRoundTripTime(time)
        }
      }
    }
  }

  /// Requests a key frame at once, unless a request was sent just before.
  ///
  /// - Parameter decoderFailed: the decoder cannot continue: no frame is handed out until the next key frame. Otherwise the
  ///   stream goes on, for example when a recording wants a point to seek to.
  public mutating func requestKeyFrame(decoderFailed: Bool, now: Instant) {
    for index in streams.indices {
      streams[index].video?.requestKeyFrame(decoderFailed: decoderFailed, now: now)
      requestWhatIsMissing(stream: index, now: now)
    }
    flushFeedback()
  }

  /// The next output; nil when there is none for now.
  public mutating func poll(now: Instant) -> RTPReceiverOutput? {
    if let output = outputs.popFirst() { return output }
    for index in streams.indices {
      guard var sound = streams[index].audio?.poll() else { continue }
      sound.captureTime = streams[index].primary?.clock.captureTime(of: sound.rtpTimestamp)
      streams[index].soundClock.noteHandingOut(
        of: sound.captureTime, isAfterDiscontinuity: sound.isAfterDiscontinuity, now: now)
      return .audio(sound)
    }
    return nil
  }

  /// Handles timers that are due at `now`; does nothing if none is.
  public mutating func handleTimeout(now: Instant) {
    for index in streams.indices {
      streams[index].audio?.handleTimeout(now: now)
      if let received = streams[index].takeHeldFrames(now: now) { handOut(received, of: index) }
      requestWhatIsMissing(stream: index, now: now)
    }
    queueTransportFeedback(now: now)
    flushFeedback()
    queueDueReport(now: now)
  }

  private mutating func queueTransportFeedback(now: Instant) {
    for feedback in transportFeedback.takeDue(now: now) {
      let isReducedSize = streams.contains { $0.configuration.reducedSizeRTCP }
      queue(.transportFeedback(feedback), isReducedSize: isReducedSize)
    }
  }

  /// When `handleTimeout` is due next; nil while there is nothing to do.
  public var nextDeadline: Instant? {
    var next = transportFeedback.nextDeadline
    next.bringForward(to: nextReport)
    for index in streams.indices {
      next.bringForward(to: streams[index].audio?.nextDeadline)
      next.bringForward(to: streams[index].video?.holdDeadline)
      // Without a source there is no SSRC to send requests to.
      guard streams[index].primary != nil else { continue }
      next.bringForward(to: streams[index].nacks.nextDeadline)
      next.bringForward(to: streams[index].video?.nextDeadline(nacks: streams[index].nacks))
    }
    return next
  }

  /// State held for received and missing packets; bounded, whatever the peer sends.
  package var load: (missingPackets: Int, waitingFrames: Int, bufferedBytes: Int) {
    streams.reduce((0, 0, 0)) { sum, stream in
      (
        sum.0 + stream.nacks.count, sum.1 + (stream.video?.waitingFrameCount ?? 0),
        sum.2 + (stream.video?.bufferedBytes ?? 0)
      )
    }
  }

  /// A snapshot of all streams, in the order in which they were added.
  public func statistics(now: Instant) -> [RTPInboundStatistics] {
    streams.map { stream in
      var statistics = stream.statistics()
      if stream.configuration.supportsReferenceTime { statistics.roundTrips = reportedRoundTrips }
      return statistics
    }
  }
}

extension ReceivedVideoFrame {
  init(_ taken: VideoReception.Taken) {
    let frame = taken.frame
    let pictureID: UInt16? =
      switch frame.pictureID {
      case .short(let value): UInt16(value)
      case .long(let value): value
      case nil: nil
      }
    self.init(
      payload: taken.payload, rtpTimestamp: frame.timestamp, isKeyFrame: frame.isKeyFrame, pictureID: pictureID,
      temporalLayer: Int(frame.temporalLayer?.index ?? 0), firstArrival: frame.firstArrival,
      lastArrival: frame.lastArrival)
  }
}
