public import Wire

/// Counters of one received media section, named as in W3C webrtc-stats: RTCReceivedRtpStreamStats and
/// RTCInboundRtpStreamStats. They go on when the sender begins anew.
public struct RTPInboundStatistics: Hashable, Sendable {
  /// The present source; nil before the first packet and after a goodbye.
  public var ssrc: UInt32?
  public var rtxSsrc: UInt32?
  public var kind: RTPReceiveStreamConfiguration.Kind
  public var mid: String?

  /// Retransmissions included, duplicates not.
  public var packetsReceived: UInt64 = 0
  /// Payload bytes, retransmissions included.
  public var bytesReceived: UInt64 = 0
  /// RTP headers with their extensions, and padding.
  public var headerBytesReceived: UInt64 = 0
  public var retransmittedPacketsReceived: UInt64 = 0
  public var retransmittedBytesReceived: UInt64 = 0
  /// Lost on the path, those that came again included. RFC 3550 section 6.4.1.
  public var packetsLost: Int64 = 0
  /// Came too late to be of use, were not what was negotiated, or were from a source that ended.
  public var packetsDiscarded: UInt64 = 0
  /// Not in webrtc-stats: packets that were there already.
  public var duplicatePackets: UInt64 = 0
  /// Seconds, RFC 3550 section 6.4.1.
  public var jitter: Double = 0
  /// Nil before the first packet.
  public var lastPacketReceivedAt: Instant?

  /// Messages, not packets.
  public var nackCount: UInt64 = 0
  public var pliCount: UInt64 = 0
  public var firCount: UInt64 = 0

  /// Frames that were whole.
  public var framesReceived: UInt64 = 0
  /// Of those handed out.
  public var keyFramesReceived: UInt64 = 0
  /// Frames that began to come and were passed over, because they did not become whole or could not be decoded.
  public var framesDropped: UInt64 = 0

  /// Of sound only.
  public var audio: AudioJitterCounters?
  /// How much sound is buffered, and how much is aimed at; of sound only.
  public var audioDelay: Duration?
  public var audioTargetDelay: Duration?

  init(kind: RTPReceiveStreamConfiguration.Kind, mid: String?) {
    self.kind = kind
    self.mid = mid
  }
}
