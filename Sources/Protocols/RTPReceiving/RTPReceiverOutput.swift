/// Output of an `RTPReceiver`, in order.
public enum RTPReceiverOutput: Sendable {
  /// An unprotected RTCP packet, compound or reduced-size, to be protected and sent now.
  case rtcp([UInt8])
  /// To be decoded now.
  case video(ReceivedVideoFrame)
  /// To be decoded and played after the previous one.
  case audio(ReceivedAudio)
  /// The peer has ended the stream (RFC 3550 section 6.6). It may start another one.
  case goodbye(RTPReceiveStreamConfiguration.Kind)
}
