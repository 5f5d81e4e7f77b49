public import RTPReceiving
public import Wire

extension PeerConnection {
  /// How long to hold a received frame so that it plays in sync with its audio; ask when the frame is emitted.
  ///
  /// - Parameter soundOutputDelay: from emitting audio to hearing it.
  /// - Returns: zero until the peer has related the two streams' timestamps; at most
  ///   `RTPReceiverConfiguration.maximumLipSyncHold`.
  public func videoHold(
    for frame: ReceivedVideoFrame, soundOutputDelay: Duration, now: Instant
  ) -> Duration {
    receiver.videoHold(for: frame, soundOutputDelay: soundOutputDelay, now: now)
  }
}
