public import Wire

extension RTPReceiver {
  /// How long to hold a video frame so that it meets the sound of the same moment; zero when it is late already, and
  /// while the peer has not told which moments belong together (sender reports of both, under one CNAME; RFC 3550
  /// section 6.4.1). To be asked when the frame is handed out. Showing every frame at once is as right: then picture
  /// and sound are apart by what sound is buffered.
  ///
  /// - Parameter soundOutputDelay: from the handing out of sound to its being heard.
  /// - Returns: at most `maximumLipSyncHold`.
  public func videoHold(
    for frame: ReceivedVideoFrame, soundOutputDelay: Duration = .zero, now: Instant
  ) -> Duration {
    guard let captured = frame.captureTime,
      let video = streams.first(where: { $0.video != nil && $0.configuration.mid == frame.mid })?.primary?.cname,
      let sound = streams.first(where: { $0.audioPosition != nil && $0.primary?.cname == video }),
      let position = sound.audioPosition
    else { return .zero }
    let silent = now - position.handedOutAt
    // Sound that has stopped says nothing about what is heard now.
    guard silent < Self.soundMemory else { return .zero }
    let heard = position.captureTime + silent - soundOutputDelay
    return min(max(captured - heard, .zero), configuration.maximumLipSyncHold)
  }

  private static let soundMemory = Duration.milliseconds(500)
}
