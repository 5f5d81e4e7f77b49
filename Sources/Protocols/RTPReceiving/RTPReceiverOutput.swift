/// What an `RTPReceiver` wants done or known, in order.
public enum RTPReceiverOutput: Sendable {
  /// A plain RTCP packet, compound or of reduced size, to be protected and sent now.
  case rtcp([UInt8])
  /// To be decoded now.
  case video(ReceivedVideoFrame)
  /// To be decoded and played behind the one before it.
  case audio(ReceivedAudio)
  /// The peer has ended the stream (RFC 3550 section 6.6). It may begin another one.
  case goodbye(RTPReceiveStreamConfiguration.Kind)
}
