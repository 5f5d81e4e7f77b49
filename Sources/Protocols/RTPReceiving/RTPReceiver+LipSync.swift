public import Wire

extension RTPReceiver {
  /// How long to delay a video frame so that it is shown with the audio captured at the same time; zero when it is
  /// already late, and until sender reports of both streams under one CNAME have arrived (RFC 3550 section 6.4.1). Call
  /// it when the frame is handed out. Showing every frame at once is also valid: audio then lags by its buffering
  /// delay.
  ///
  /// - Parameter soundOutputDelay: time from handing out audio to hearing it.
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
    // Audio that has stopped says nothing about what is heard now.
    guard silent < Self.soundMemory else { return .zero }
    let heard = position.captureTime + silent - soundOutputDelay
    return min(max(captured - heard, .zero), configuration.maximumLipSyncHold)
  }

  private static let soundMemory = Duration.milliseconds(500)
}
