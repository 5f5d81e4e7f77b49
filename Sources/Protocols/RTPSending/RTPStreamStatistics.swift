/// Counters of one sent stream, named as in W3C webrtc-stats: RTCOutboundRtpStreamStats, and
/// RTCRemoteInboundRtpStreamStats for the peer's reports.
public struct RTPStreamStatistics: Hashable, Sendable {
  /// A frame or a sound packet, as W3C's RTCRtpContributingSource has it.
  public struct Latest: Hashable, Sendable {
    public var rtpTimestamp: UInt32
    /// ms since 1970, on our wall clock.
    public var captureTimestamp: Double
  }

  public var ssrc: UInt32
  public var rtxSsrc: UInt32?
  public var kind: RTPMediaKind
  public var mid: String?

  /// Including retransmissions.
  public var packetsSent: UInt64 = 0
  /// Payload bytes, including retransmissions.
  public var bytesSent: UInt64 = 0
  /// RTP headers, including extensions.
  public var headerBytesSent: UInt64 = 0
  /// Not in webrtc-stats: packets of padding on the retransmission stream, not among `packetsSent`.
  public var paddingPacketsSent: UInt64 = 0
  public var retransmittedPacketsSent: UInt64 = 0
  public var retransmittedBytesSent: UInt64 = 0
  /// Total seconds that packets spent in our queue.
  public var totalPacketSendDelay: Double = 0
  public var framesSent: UInt64 = 0
  /// Not in webrtc-stats.
  public var keyFramesSent: UInt64 = 0
  /// Not in webrtc-stats: frames dropped because they waited too long, or while waiting for a key frame.
  public var framesDropped: UInt64 = 0
  /// Not in webrtc-stats: frames not sent because they are above this viewer's temporal layer.
  public var framesAboveLayer: UInt64 = 0
  /// Messages, not packets.
  public var nackCount: UInt64 = 0
  public var pliCount: UInt64 = 0
  public var firCount: UInt64 = 0

  /// Seconds; nil before the first measurement.
  public var roundTripTime: Double?
  public var totalRoundTripTime: Double = 0
  public var roundTripTimeMeasurements: UInt64 = 0
  /// 0...1 over the last report's interval; nil before the first report.
  public var fractionLost: Double?
  public var packetsLost: Int64 = 0
  /// Packets that the peer's reports prove to have arrived: how far its highest sequence number has advanced, less what it
  /// counts as lost meanwhile. Those before its first report are not counted.
  public var packetsReceivedByPeer: UInt64 = 0
  /// Seconds; nil before the first report.
  public var jitter: Double?

  /// What was queued last; nil before the first.
  public var latest: Latest?

  /// RTCIceCandidatePairStats: bits per second, the same for all streams of a peer.
  public var availableOutgoingBitrate: Double = 0

  init(ssrc: UInt32, rtxSsrc: UInt32?, kind: RTPMediaKind, mid: String?) {
    self.ssrc = ssrc
    self.rtxSsrc = rtxSsrc
    self.kind = kind
    self.mid = mid
  }
}
