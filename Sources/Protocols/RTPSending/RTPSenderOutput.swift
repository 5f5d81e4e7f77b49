/// What an `RTPSender` wants done or known, in order.
public enum RTPSenderOutput: Sendable {
  /// A plain packet, to be protected and sent now.
  case rtp([UInt8])
  /// A plain compound packet, to be protected and sent now.
  case rtcp([UInt8])
  /// The viewer cannot go on without a key frame of this stream.
  case keyFrameRequested(ssrc: UInt32)
  /// What all streams together, headers and retransmissions included, should keep below.
  case targetBitrateChanged(kbps: Int)
}
