import RTP
import Wire

/// State of one media section: its sources, their missing packets, and the handling of received ones.
struct ReceiveStream: Sendable {
  let configuration: RTPReceiveStreamConfiguration
  private(set) var primary: ReceiveSource?
  private(set) var rtx: ReceiveSource?
  private var retired: [(ssrc: UInt32, until: Instant)] = []
  var nacks: NACKGenerator
  /// One of these is set, depending on the kind.
  var video: VideoReception?
  var audio: AudioJitterBuffer?
  var counters: RTPInboundStatistics
  private var lostOnFormerSources: Int64 = 0
  /// Sequence number of the next FIR, RFC 5104 section 4.3.1.1.
  var fullIntraRequests: UInt8 = 0
  private var redundancy = RedundancyDistances()
  /// How long after a packet its last copy arrives; nil while there are no copies.
  private var redundancyTime: Duration?
  /// What is handed out of the sound, and when.
  var soundClock = SoundClock()
  /// As the last packet with a playout-delay extension asked for it.
  var playoutDelay: PlayoutDelay?
  /// When pictures are to be shown that wait for nothing else.
  private(set) var pictureClock: PictureClock

  /// Packets of an ended source may still arrive for this long.
  private static let retirement = Duration.seconds(2)
  private static let maximumRetired = 4

  init(configuration: RTPReceiveStreamConfiguration, limits: RTPReceiverConfiguration, roundTripTime: Duration) {
    self.configuration = configuration
    let isVideo = configuration.kind == .video
    nacks = NACKGenerator(
      limits: NACKGenerator.Limits(
        missingPackets: limits.maximumMissingPackets, requestsPerPacket: limits.maximumRequestsPerPacket,
        minimumInterval: limits.minimumRequestInterval,
        recoveryTime: isVideo ? limits.videoRecoveryTime : limits.audioRecoveryTime,
        reorderingAllowance: limits.maximumReorderingAllowance),
      isEnabled: configuration.supportsNACK, usesRTX: configuration.rtxPayloadType != nil,
      roundTripTime: roundTripTime)
    pictureClock = PictureClock(clockRate: configuration.clockRate)
    counters = RTPInboundStatistics(kind: configuration.kind, mid: configuration.mid)
    if isVideo {
      video = VideoReception(configuration: limits, usesNACK: configuration.supportsNACK)
    } else {
      audio = AudioJitterBuffer(configuration: limits.audio, clockRate: configuration.clockRate)
    }
    updateRecoveryTime()
  }

  enum Role: Sendable { case primary, rtx }

  func role(ofPayloadType payloadType: UInt8) -> Role? {
    switch payloadType {
    case configuration.payloadType, configuration.redPayloadType: .primary
    case configuration.rtxPayloadType: .rtx
    default: nil
    }
  }

  func has(source ssrc: UInt32) -> Bool { primary?.ssrc == ssrc || rtx?.ssrc == ssrc }

  func isRetired(_ ssrc: UInt32, now: Instant) -> Bool {
    retired.contains { $0.ssrc == ssrc && now < $0.until }
  }

  /// See `NACKGenerator`.
  mutating func setRoundTripTime(_ estimate: RoundTripEstimate) {
    nacks.setRoundTripTime(estimate)
    video?.setRequestTiming(roundTripTime: nacks.roundTripTime, requestInterval: nacks.requestInterval)
    updateRecoveryTime()
  }

  /// - Parameters:
  ///   - sound: see `AudioJitterBuffer`.
  ///   - picture: pictures are not shown sooner after their arrival.
  mutating func setLeastDelay(sound: Duration, picture: Duration, atOnce: Bool) {
    audio?.setLeastDelay(sound, atOnce: atOnce)
    video?.setLeastDelay(picture)
  }

  private mutating func updateRecoveryTime() {
    // One round trip and one retry.
    let retransmission = configuration.supportsNACK ? nacks.roundTripTime + nacks.requestInterval : nil
    guard let retransmission, let redundancyTime else {
      audio?.setRecoveryTime(retransmission ?? redundancyTime)
      return
    }
    audio?.setRecoveryTime(max(retransmission, redundancyTime))
  }

  // MARK: Sources

  /// Makes `ssrc` the source for its role, replacing any other one.
  mutating func adopt(_ ssrc: UInt32, role: Role, now: Instant) {
    switch role {
    case .primary:
      guard primary?.ssrc != ssrc else { return }
      retirePrimary(now: now)
      primary = ReceiveSource(ssrc: ssrc, clockRate: configuration.clockRate)
    case .rtx:
      guard rtx?.ssrc != ssrc else { return }
      retireRTX(now: now)
      rtx = ReceiveSource(ssrc: ssrc, clockRate: configuration.clockRate)
    }
  }

  /// Another stream has taken over the source.
  mutating func disown(_ ssrc: UInt32, now: Instant) {
    if primary?.ssrc == ssrc { retirePrimary(now: now) }
    if rtx?.ssrc == ssrc { rtx = nil }
    retired.removeAll { $0.ssrc == ssrc }
  }

  /// True if this ends the stream itself.
  mutating func handleGoodbye(of ssrc: UInt32, now: Instant) -> Bool {
    if rtx?.ssrc == ssrc { retireRTX(now: now) }
    guard primary?.ssrc == ssrc else { return false }
    retirePrimary(now: now)
    return true
  }

  mutating func handle(_ report: RTCPSenderReport, roundTrip: Duration?, now: Instant) {
    if primary?.ssrc == report.ssrc { primary?.clock.handle(report, roundTrip: roundTrip, now: now) }
    if rtx?.ssrc == report.ssrc { rtx?.clock.handle(report, roundTrip: roundTrip, now: now) }
  }

  mutating func handle(_ chunk: RTCPSourceDescription.Chunk) {
    guard primary?.ssrc == chunk.ssrc, let cname = chunk.cname else { return }
    primary?.cname = cname
  }

  mutating func makeReportBlocks(now: Instant) -> [RTCPReportBlock] {
    [primary?.makeReportBlock(now: now), rtx?.makeReportBlock(now: now)].compactMap { $0 }
  }

  private mutating func retirePrimary(now: Instant) {
    guard let source = primary else { return }
    lostOnFormerSources += source.statistics.lost
    primary = nil
    retire(source.ssrc, now: now)
    resetMedia()
  }

  private mutating func retireRTX(now: Instant) {
    guard let source = rtx else { return }
    rtx = nil
    retire(source.ssrc, now: now)
  }

  private mutating func retire(_ ssrc: UInt32, now: Instant) {
    retired.removeAll { $0.ssrc == ssrc || $0.until <= now }
    if retired.count >= Self.maximumRetired { retired.removeFirst() }
    retired.append((ssrc, now + Self.retirement))
  }

  private mutating func resetMedia() {
    nacks.removeAll()
    video?.reset()
    audio?.reset()
    soundClock = SoundClock()
    playoutDelay = nil
    pictureClock = PictureClock(clockRate: configuration.clockRate)
    redundancy.reset()
  }

  // MARK: Packets

  /// Handles a packet of the primary source.
  mutating func receivePrimary(_ packet: RTPPacket, byteCount: Int, now: Instant) -> VideoReception.Received? {
    guard let verdict = primary?.tracker.receive(packet.header.sequenceNumber) else { return nil }
    var isRecovered = false
    let sequence: Int64
    switch verdict {
    case .duplicate:
      counters.duplicatePackets += 1
      return nil
    case .implausible:
      counters.packetsDiscarded += 1
      return nil
    case .newest(let number, let missing):
      sequence = number
      noteMissing(missing, now: now)
    case .restarted(let number):
      sequence = number
      primary?.statistics.restart()
      resetMedia()
      noteMissing(number - 1..<number, now: now)
    case .late(let number):
      sequence = number
      isRecovered = nacks.noteArrived(number, isRetransmission: false, now: now)
    }
    primary?.statistics.receive(sequence: sequence, timestamp: packet.header.timestamp, now: now)
    count(packet, byteCount: byteCount, now: now)
    if video != nil { pictureClock.noteArrival(of: packet.header.timestamp, now: now) }
    if isRecovered {
      counters.retransmittedPacketsReceived += 1
      counters.retransmittedBytesReceived += UInt64(packet.payload.count)
    }
    let isRedundant = packet.header.payloadType == configuration.redPayloadType
    return deliver(
      packet.payload, isRedundant: isRedundant, sequence: sequence, header: packet.header, isRecovered: isRecovered,
      now: now)
  }

  /// Handles an RTX packet: the original sequence number precedes the payload. RFC 4588 section 4.
  mutating func receiveRetransmission(_ packet: RTPPacket, byteCount: Int, now: Instant) -> VideoReception.Received? {
    switch rtx?.tracker.receive(packet.header.sequenceNumber) {
    case .newest(let number, _), .late(let number):
      rtx?.statistics.receive(sequence: number, timestamp: packet.header.timestamp, now: now)
    case .restarted(let number):
      rtx?.statistics.restart()
      rtx?.statistics.receive(sequence: number, timestamp: packet.header.timestamp, now: now)
    case .duplicate:
      counters.duplicatePackets += 1
      return nil
    case .implausible, nil:
      counters.packetsDiscarded += 1
      return nil
    }
    count(packet, byteCount: byteCount, now: now)
    counters.retransmittedPacketsReceived += 1
    counters.retransmittedBytesReceived += UInt64(packet.payload.count)
    // Senders probe the path with empty RTX packets.
    guard packet.payload.count >= 2 else { return nil }
    let original = packet.payload.prefix(2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
    let sequence: Int64
    switch primary?.tracker.receive(original, isRetransmission: true) {
    case .newest(let number, let missing):
      sequence = number
      noteMissing(missing, now: now)
    case .late(let number):
      sequence = number
      nacks.noteArrived(number, isRetransmission: true, now: now)
    case .duplicate:
      counters.duplicatePackets += 1
      return nil
    case .implausible, .restarted, nil:
      counters.packetsDiscarded += 1
      return nil
    }
    // An RTX payload type maps to one other (RFC 4588, `apt`): the one without redundancy.
    return deliver(
      packet.payload.dropFirst(2), isRedundant: false, sequence: sequence, header: packet.header, isRecovered: true,
      now: now)
  }

  private mutating func count(_ packet: RTPPacket, byteCount: Int, now: Instant) {
    counters.packetsReceived += 1
    counters.bytesReceived += UInt64(packet.payload.count)
    counters.headerBytesReceived += UInt64(max(0, byteCount - packet.payload.count))
    counters.lastPacketReceivedAt = now
  }

  private mutating func noteMissing(_ missing: Range<Int64>, now: Instant) {
    guard !missing.isEmpty else { return }
    if video?.isOutage(missing: missing.count, nacks: nacks, now: now) == true {
      nacks.removeAll()
    } else if nacks.noteMissing(missing, now: now) {
      return
    }
    video?.reset()
  }

  /// Frames that no longer wait for those before them.
  mutating func takeHeldFrames(now: Instant) -> VideoReception.Received? {
    guard let received = video?.handOutWhatIsDue(now: now) else { return nil }
    releaseRequests()
    return received
  }

  private mutating func releaseRequests() {
    if let floor = video?.floor { nacks.release(below: floor) }
  }

  private mutating func deliver(
    _ payload: ArraySlice<UInt8>, isRedundant: Bool, sequence: Int64, header: RTPHeader, isRecovered: Bool, now: Instant
  ) -> VideoReception.Received? {
    guard video == nil else {
      let received = video?.receive(
        sequence: sequence, timestamp: header.timestamp, marker: header.marker, payload: payload, now: now)
      releaseRequests()
      return received
    }
    // Padding consumes a sequence number, but no media time.
    guard !payload.isEmpty else { return nil }
    guard isRedundant else {
      audio?.insert(
        Array(payload), sequence: sequence, timestamp: header.timestamp, isRecovered: isRecovered, now: now)
      return nil
    }
    receive(redundant: payload, sequence: sequence, timestamp: header.timestamp, isRecovered: isRecovered, now: now)
    return nil
  }

  /// RFC 2198 section 3.
  private mutating func receive(
    redundant payload: ArraySlice<UInt8>, sequence: Int64, timestamp: UInt32, isRecovered: Bool, now: Instant
  ) {
    guard let audioBlocks = try? RedundantAudio(parsing: payload),
      audioBlocks.primaryPayloadType == configuration.payloadType
    else {
      counters.packetsDiscarded += 1
      return
    }
    let distances = redundancy.distances(of: audioBlocks, sequence: sequence, timestamp: timestamp)
    if let time = redundancy.recoveryTime, time != redundancyTime {
      redundancyTime = time
      updateRecoveryTime()
    }
    for (block, distance) in zip(audioBlocks.redundant, distances) {
      guard let distance, block.payloadType == configuration.payloadType, !block.data.isEmpty else { continue }
      let copied = sequence - distance
      guard primary?.tracker.receiveCopy(copied) == true else { continue }
      nacks.noteArrived(copied, isRetransmission: true, now: now)
      audio?.insert(
        Array(block.data), sequence: copied, timestamp: timestamp &- UInt32(block.timestampOffset),
        isRecovered: true, now: now)
    }
    guard !audioBlocks.primary.isEmpty else { return }
    audio?.insert(
      Array(audioBlocks.primary), sequence: sequence, timestamp: timestamp, isRecovered: isRecovered, now: now)
  }

  func statistics() -> RTPInboundStatistics {
    var statistics = counters
    statistics.ssrc = primary?.ssrc
    statistics.rtxSsrc = rtx?.ssrc
    statistics.packetsLost = lostOnFormerSources + (primary?.statistics.lost ?? 0)
    statistics.jitter = primary?.statistics.jitterSeconds ?? 0
    if let video { statistics.framesDropped = video.droppedFrames }
    if let audio {
      statistics.audio = audio.counters
      statistics.packetsDiscarded += audio.counters.packetsDiscarded
      statistics.audioDelay = audio.currentDelay
      statistics.audioTargetDelay = audio.targetDelay
    }
    return statistics
  }
}
