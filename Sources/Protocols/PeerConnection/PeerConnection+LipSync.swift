public import RTPReceiving
public import Wire

extension PeerConnection {
  /// How much later than now the sound of a received frame is heard; see `RTPReceiver.soundLag`. Ask when the frame is
  /// emitted.
  ///
  /// - Parameter soundOutputDelay: from emitting audio to hearing it.
  public func soundLag(of frame: ReceivedVideoFrame, soundOutputDelay: Duration, now: Instant) -> Duration? {
    receiver.soundLag(of: frame, soundOutputDelay: soundOutputDelay, now: now)
  }

  /// When a received frame was captured, on our clock; see `RTPReceiver.localCaptureTime`. Ask when the frame is emitted.
  public func localCaptureTime(of frame: ReceivedVideoFrame) -> Instant? { receiver.localCaptureTime(of: frame) }

  /// How long to hold a received frame where no sound is heard with it; see `RTPReceiver.playoutHold`.
  public func playoutHold(for frame: ReceivedVideoFrame, now: Instant) -> Duration {
    receiver.playoutHold(for: frame, now: now)
  }

  /// The delay that sound has at least; see `RTPReceiver.setSteadyDelay`.
  public func setSteadyDelay(_ delay: Duration) {
    receiver.setSteadyDelay(delay)
  }

  /// From emitting audio to hearing it, nil while nobody does: sound that follows pictures takes it into account.
  public func setSoundOutputDelay(_ delay: Duration?) {
    receiver.setSoundOutputDelay(delay)
  }
}
