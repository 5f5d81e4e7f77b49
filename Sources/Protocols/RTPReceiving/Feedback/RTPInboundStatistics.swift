public import Wire

/// What the sender's answers to our reference times (RFC 3611) show, named as in W3C webrtc-stats:
/// RTCRemoteOutboundRtpStreamStats.
public struct RoundTripCounters: Hashable, Sendable {
  /// Seconds; nil before the first measurement.
  public private(set) var roundTripTime: Double?
  /// Seconds.
  public private(set) var totalRoundTripTime = 0.0
  public private(set) var roundTripTimeMeasurements: UInt64 = 0

  mutating func add(_ time: Duration) {
    roundTripTime = time.inSeconds
    totalRoundTripTime += time.inSeconds
    roundTripTimeMeasurements += 1
  }
}

/// Counters of one received media section, named as in W3C webrtc-stats: RTCReceivedRtpStreamStats and
/// RTCInboundRtpStreamStats. They continue when the sender restarts.
public struct RTPInboundStatistics: Hashable, Sendable {
  /// The current source; nil before the first packet and after a BYE.
  public var ssrc: UInt32?
  public var rtxSsrc: UInt32?
  public var kind: RTPReceiveStreamConfiguration.Kind
  public var mid: String?

  /// Including retransmissions, excluding duplicates.
  public var packetsReceived: UInt64 = 0
  /// Payload bytes, including retransmissions.
  public var bytesReceived: UInt64 = 0
  /// RTP headers including extensions, and padding.
  public var headerBytesReceived: UInt64 = 0
  public var retransmittedPacketsReceived: UInt64 = 0
  public var retransmittedBytesReceived: UInt64 = 0
  /// Lost on the path, including packets recovered later. RFC 3550 section 6.4.1.
  public var packetsLost: Int64 = 0
  /// Arrived too late to be of use, did not match what was negotiated, or came from a source that had ended.
  public var packetsDiscarded: UInt64 = 0
  /// Not in webrtc-stats: packets already received.
  public var duplicatePackets: UInt64 = 0
  /// Seconds, RFC 3550 section 6.4.1.
  public var jitter: Double = 0
  /// Nil before the first packet.
  public var lastPacketReceivedAt: Instant?

  /// Messages, not packets.
  public var nackCount: UInt64 = 0
  public var pliCount: UInt64 = 0
  public var firCount: UInt64 = 0

  /// Complete frames.
  public var framesReceived: UInt64 = 0
  /// Key frames handed out.
  public var keyFramesReceived: UInt64 = 0
  /// Frames that began to arrive but were skipped, because they stayed incomplete or could not be decoded.
  public var framesDropped: UInt64 = 0

  /// The same for all sections that negotiated it.
  public var roundTrips = RoundTripCounters()

  /// Audio only.
  public var audio: AudioJitterCounters?
  /// Buffered audio, and the target; audio only.
  public var audioDelay: Duration?
  public var audioTargetDelay: Duration?
}
