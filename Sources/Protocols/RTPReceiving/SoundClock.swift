import Wire

/// Which moment of the sender's time the sound is at that is handed out now. Elements are handed out a little early or
/// late, so that it is an average.
struct SoundClock: Sendable {
  /// Capture time minus the time of handing out.
  private var offset: Duration?
  private var handedOutAt = Instant(nanoseconds: .min)

  private static let smoothing = 8
  /// More than handing out early or late explains.
  private static let jump = Duration.milliseconds(60)
  /// Sound that has stopped says nothing about what is heard now.
  private static let memory = Duration.milliseconds(500)

  mutating func noteHandingOut(of captureTime: Instant?, isAfterDiscontinuity: Bool, now: Instant) {
    guard let captureTime else { return }
    handedOutAt = now
    let measured = captureTime - now
    guard let offset, !isAfterDiscontinuity, max(measured - offset, offset - measured) < Self.jump else {
      self.offset = measured
      return
    }
    self.offset = offset + (measured - offset) / Self.smoothing
  }

  /// The capture time of what is handed out at `now`; nil while there is no sound.
  func captureTime(at now: Instant) -> Instant? {
    guard let offset, now - handedOutAt < Self.memory else { return nil }
    return now + offset
  }
}
