import RTP
public import Wire

// Builds packets at the moment they are sent.
extension RTPSender {
  mutating func makePacket(_ packet: QueuedPacket, now: Instant) -> [UInt8] {
    let index = packet.stream
    let configuration = streams[index].configuration
    let (payload, payloadType) = streams[index].redundancy.wrap(
      packet, as: configuration, copies: configuration.redPayloadType == nil ? 0 : soundCopies)
    let header = RTPHeader(
      marker: packet.marker, payloadType: payloadType,
      sequenceNumber: streams[index].nextSequenceNumber, timestamp: packet.timestamp, ssrc: configuration.ssrc)
    streams[index].nextSequenceNumber &+= 1
    if packet.isKeyFrame, packet.isFirstOfFrame { streams[index].coveredByKeyFrameUntil = now }

    var extensions = RTPHeaderExtensions()
    extensions.mid = configuration.mid
    if configuration.kind == .video, let delay = configuration.playoutDelay {
      extensions.playoutDelay = playoutDelayForLoss ?? delay
    }
    extensions.absoluteCaptureTime = captureTime(of: packet, now: now)
    let transportSequenceNumber = stamp(&extensions, ids: configuration.extensionIDs, now: now)
    var (bytes, payloadOffset) = RTPPacket.write(
      header: header, extensions: extensions, ids: configuration.extensionIDs, payload: payload)
    if packet.counterOffset != VP8CounterOffset() {
      VP8Packetizer.lowerCounters(by: packet.counterOffset, in: &bytes, payloadOffset: payloadOffset)
    }
    if configuration.supportsNACK {
      streams[index].cache.insert(
        SentPacket(
          header: header, extensions: extensions, payload: payload, counterOffset: packet.counterOffset),
        sentAt: now, maximumAge: self.configuration.retransmissionCacheAge)
    }

    streams[index].statistics.totalPacketSendDelay += max(0, (now - packet.enqueuedAt).inSeconds)
    if packet.isLastOfFrame {
      streams[index].statistics.framesSent += 1
      if packet.isKeyFrame { noteKeyFrameSent(stream: index, enqueuedAt: packet.enqueuedAt, now: now) }
    }
    noteSent(
      MediaReference(stream: index, sequenceNumber: header.sequenceNumber), byteCount: bytes.count,
      payloadByteCount: payload.count, transportSequenceNumber: transportSequenceNumber, now: now)
    if streams[index].nextReport == nil {
      // The first report follows the first packet, so that audio and video are in sync from the start.
      queueReport(stream: index, now: now)
    }
    return bytes
  }

  /// Builds a retransmission: an RTX packet if negotiated (RFC 4588 section 4), otherwise the original packet.
  mutating func makeRetransmission(stream index: Int, sequenceNumber: UInt16, now: Instant) -> [UInt8]? {
    guard
      let sent = streams[index].cache.takeForRetransmission(
        sequenceNumber, now: now, maximumAge: configuration.retransmissionCacheAge)
    else { return nil }
    let ids = streams[index].configuration.extensionIDs
    var header = sent.header
    var extensions = sent.extensions
    var transportSequenceNumber: UInt16?
    let isRTX = streams[index].configuration.rtx != nil
    if let rtx = streams[index].configuration.rtx {
      header.ssrc = rtx.ssrc
      header.payloadType = rtx.payloadType
      header.sequenceNumber = streams[index].nextRTXSequenceNumber
      streams[index].nextRTXSequenceNumber &+= 1
      transportSequenceNumber = stamp(&extensions, ids: ids, now: now)
    }
    var (bytes, payloadOffset) = RTPPacket.write(
      header: header, extensions: extensions, ids: ids,
      originalSequenceNumber: isRTX ? sent.header.sequenceNumber : nil, payload: sent.payload)
    if sent.counterOffset != VP8CounterOffset() {
      VP8Packetizer.lowerCounters(by: sent.counterOffset, in: &bytes, payloadOffset: payloadOffset)
    }
    let payloadByteCount = sent.payload.count + (isRTX ? 2 : 0)
    streams[index].statistics.retransmittedPacketsSent += 1
    streams[index].statistics.retransmittedBytesSent += UInt64(payloadByteCount)
    noteSent(
      MediaReference(stream: index, sequenceNumber: sequenceNumber), byteCount: bytes.count,
      payloadByteCount: payloadByteCount, transportSequenceNumber: transportSequenceNumber, now: now)
    return bytes
  }

  /// The stream whose retransmission stream takes padding: media streams would take it for a gap in the media.
  var paddingStream: Int? {
    streams.firstIndex {
      $0.configuration.rtx != nil && $0.configuration.extensionIDs.transportSequenceNumber != nil && $0.clockPair != nil
    }
  }

  /// Padding that probes the path, if some is due.
  mutating func makePadding(now: Instant) -> [UInt8]? {
    guard let due = estimator.probing.nextPacketAt, due <= now, let index = paddingStream,
      let rtx = streams[index].configuration.rtx, let clockPair = streams[index].clockPair
    else { return nil }
    let ids = streams[index].configuration.extensionIDs
    let header = RTPHeader(
      marker: false, payloadType: rtx.payloadType, sequenceNumber: streams[index].nextRTXSequenceNumber,
      timestamp: clockPair.timestamp, ssrc: rtx.ssrc)
    streams[index].nextRTXSequenceNumber &+= 1
    var extensions = RTPHeaderExtensions()
    extensions.mid = streams[index].configuration.mid
    guard let number = stamp(&extensions, ids: ids, now: now) else { return nil }
    let (bytes, _) = RTPPacket.write(
      header: header, extensions: extensions, ids: ids, payload: [], paddingByteCount: estimator.probing.paddingBytes)
    // W3C webrtc-stats: padding counts as headers.
    streams[index].statistics.headerBytesSent += UInt64(bytes.count)
    streams[index].statistics.paddingPacketsSent += 1
    estimator.noteSent(number, media: nil, bytes: bytes.count + Self.packetOverhead, now: now)
    return bytes
  }

  /// Records a datagram that goes to the viewer beside the media, such as a message: what it takes of a narrow path, pictures
  /// wait for. Otherwise it would stand before them, and the delay would be taken for congestion. `byteCount` is without the
  /// headers of UDP and IP.
  public mutating func noteSentBeside(byteCount: Int, now: Instant) {
    guard !isStopped else { return }
    pacingBitsPerSecond = pacingRate(now: now)
    // On a healthy path a message must not take a picture's place in the window.
    guard let pacingBitsPerSecond else { return }
    pacer.noteSent(
      bytes: byteCount + Self.ipAndUDPHeaders, bitsPerSecond: pacingBitsPerSecond, isPaced: false, now: now)
  }

  /// The headers of IPv4 and UDP.
  private static let ipAndUDPHeaders = 28

  /// What the path carries beside an RTP packet: the headers of IPv4 and UDP, and SRTP's tag (RFC 3711 section 4.2). Where
  /// sound alone is left, that is a third.
  static let packetOverhead = ipAndUDPHeaders + 10

  /// Sets the extensions that are only known at send time.
  private mutating func stamp(_ extensions: inout RTPHeaderExtensions, ids: RTPExtensionIDs, now: Instant) -> UInt16? {
    if ids.absoluteSendTime != nil {
      // 6.18 fixed point of a clock that never steps: receivers use only differences.
      let (seconds, rest) = now.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
      let fraction = max(0, rest) << 18 / 1_000_000_000
      extensions.absoluteSendTime = UInt32(truncatingIfNeeded: seconds &<< 18 | fraction) & 0xff_ffff
    }
    guard ids.transportSequenceNumber != nil else { return nil }
    let number = nextTransportSequenceNumber
    nextTransportSequenceNumber &+= 1
    extensions.transportSequenceNumber = number
    return number
  }

  /// Receivers interpolate, so once a second and with each key frame is enough.
  private mutating func captureTime(of packet: QueuedPacket, now: Instant) -> AbsoluteCaptureTime? {
    let index = packet.stream
    guard packet.isFirstOfFrame, streams[index].configuration.extensionIDs.absoluteCaptureTime != nil else {
      return nil
    }
    if let last = streams[index].captureTimeSentAt, now - last < .seconds(1), !packet.isKeyFrame { return nil }
    streams[index].captureTimeSentAt = now
    return AbsoluteCaptureTime(ntpTime: wallClock.ntpTime(at: packet.captureTime))
  }

  private mutating func noteSent(
    _ media: MediaReference, byteCount: Int, payloadByteCount: Int, transportSequenceNumber: UInt16?, now: Instant
  ) {
    streams[media.stream].statistics.packetsSent += 1
    streams[media.stream].statistics.bytesSent += UInt64(payloadByteCount)
    streams[media.stream].statistics.headerBytesSent += UInt64(byteCount - payloadByteCount)
    // What a peer with REMB alone reports does not count the headers below RTP.
    let cost = byteCount + (transportSequenceNumber == nil ? 0 : Self.packetOverhead)
    // Sound counts at today's rate, also where no picture has waited since it was another.
    pacingBitsPerSecond = pacingRate(now: now)
    let isPaced = streams[media.stream].configuration.kind == .video
    pacer.noteSent(bytes: cost, bitsPerSecond: pacingBitsPerSecond, isPaced: isPaced, now: now)
    if let transportSequenceNumber {
      estimator.noteSent(transportSequenceNumber, media: media, bytes: cost, now: now)
    } else {
      estimator.noteSentUnnumbered(
        bytes: cost, kind: streams[media.stream].configuration.kind, now: now)
    }
  }
}
