public import RTPReceiving
public import Wire

extension PeerConnection {
  /// How long a received picture has to be held to meet the sound of the same moment; to be asked when it is handed out.
  ///
  /// - Parameter soundOutputDelay: from the handing out of sound to its being heard.
  /// - Returns: zero while the peer has not told which moments belong together; at most
  ///   `RTPReceiverConfiguration.maximumLipSyncHold`.
  public func videoHold(
    for frame: ReceivedVideoFrame, soundOutputDelay: Duration, now: Instant
  ) -> Duration {
    receiver.videoHold(for: frame, soundOutputDelay: soundOutputDelay, now: now)
  }
}
