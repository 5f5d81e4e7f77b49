import RTP
public import Wire

// When pictures were captured, and when they are shown and sound is heard: together.
extension RTPReceiver {
  /// How much later than now the sound is heard that was captured with a video frame; negative if it was heard before.
  /// Nil while no sound is handed out, and until sender reports of both streams under one CNAME have arrived (RFC 3550
  /// section 6.4.1). Call it when the frame is handed out.
  ///
  /// - Parameter soundOutputDelay: time from handing out audio to hearing it.
  public func soundLag(of frame: ReceivedVideoFrame, soundOutputDelay: Duration = .zero, now: Instant) -> Duration? {
    guard let captured = frame.captureTime,
      let video = streams.first(where: { $0.video != nil && $0.configuration.mid == frame.mid })?.primary?.cname,
      let sound = streams.lazy.filter({ $0.audio != nil && $0.primary?.cname == video })
        .compactMap({ $0.soundClock.captureTime(at: now) }).first
    else { return nil }
    return captured - (sound - soundOutputDelay)
  }

  /// When a video frame was captured, on our clock, as far as sender reports and round trips tell: the way there is taken to
  /// be as long as the way back. Nil until they do. Call it when the frame is handed out.
  public func localCaptureTime(of frame: ReceivedVideoFrame) -> Instant? {
    guard let captured = frame.captureTime,
      let stream = streams.first(where: { $0.video != nil && $0.configuration.mid == frame.mid })
    else { return nil }
    return stream.primary?.clock.localTime(of: captured)
  }

  /// How long to hold a video frame back where no sound is heard with it, or none yet: as its sender asks with the
  /// playout-delay extension, so that pictures that waited for a retransmission come as evenly as the others, and as
  /// steady sound will. Zero where nobody asks for anything, or when it is late already.
  public func playoutHold(for frame: ReceivedVideoFrame, now: Instant) -> Duration {
    guard let stream = streams.first(where: { $0.video != nil && $0.configuration.mid == frame.mid }) else {
      return .zero
    }
    let steady = streams.contains { $0.audio != nil } ? min(steadyDelay, Self.longestAsked) : .zero
    let least = max(afterArrival(stream.playoutDelay), steady)
    guard least > .zero else { return .zero }
    return min(max(stream.pictureClock.wait(for: frame.rtpTimestamp, delay: least, now: now), .zero), least)
  }

  /// Of a delay from capture to rendering, what is left when the fastest packets arrive. In steps, because the round trip
  /// varies a little all the time.
  private func afterArrival(_ asked: PlayoutDelay?) -> Duration {
    guard let asked else { return .zero }
    let left = min(.milliseconds(Int(asked.minimum) * 10), Self.longestAsked) - (roundTrip.smoothed ?? .zero) / 2
    return .milliseconds(max(left, .zero).nanoseconds / Self.step * Self.step / 1_000_000)
  }

  /// More is not honoured: no sound waits longer.
  private static let longestAsked = Duration.milliseconds(500)
  /// Nanoseconds.
  private static let step: Int64 = 5_000_000

  /// Sets a delay that sound has at least, so that gaps of the network are not heard; pictures follow by `soundLag`. At
  /// most `AudioJitterBufferConfiguration.maximumDelay`; zero for as little as possible.
  public mutating func setSteadyDelay(_ delay: Duration) {
    steadyDelay = max(delay, .zero)
    adoptLeastDelay(atOnce: true)
  }

  /// Sets the time from handing out audio to hearing it; nil while nobody hears it.
  public mutating func setSoundOutputDelay(_ delay: Duration?) {
    // It varies a little all the time.
    if let old = soundOutputDelay, let delay, max(old - delay, delay - old) < Self.noticedOutputDelay { return }
    soundOutputDelay = delay
    adoptLeastDelay(atOnce: false)
  }

  private static let noticedOutputDelay = Duration.milliseconds(10)

  /// Sound waits for pictures whose sender asks for patience, less the time that it takes anyway.
  mutating func adoptLeastDelay(atOnce: Bool) {
    let asked: Duration = streams.reduce(.zero) { max($0, afterArrival($1.playoutDelay)) }
    let followed = soundOutputDelay.map { asked - $0 } ?? .zero
    for index in streams.indices {
      streams[index].setLeastDelay(
        sound: max(steadyDelay, followed), picture: max(steadyDelay, asked), atOnce: atOnce)
    }
  }
}
