/// Output of an `RTPSender`, in order.
public enum RTPSenderOutput: Sendable {
  /// An unprotected RTP packet, to be protected and sent now.
  case rtp([UInt8])
  /// An unprotected compound RTCP packet, to be protected and sent now.
  case rtcp([UInt8])
  /// The viewer cannot continue without a key frame of this stream.
  case keyFrameRequested(ssrc: UInt32)
  /// Upper bound for all streams together, including headers and retransmissions.
  case targetBitrateChanged(kbps: Int)
}
