import Wire

/// Media time of the stream, in samples since its start: RTP timestamps without wraps, and without the jumps that occur
/// when a sender switches its source. A pause of the sender is not a jump: the same time has passed here.
struct AudioJitterBufferTimeline: Sendable {
  let clockRate: Int64
  private var unwrapper = SerialUnwrapper<UInt32>()
  /// Media time minus unwrapped timestamp.
  private var offset: Int64 = 0
  private var newest: (sequence: Int64, media: Int64, arrival: Instant)?

  init(clockRate: Int64) {
    self.clockRate = clockRate
  }

  /// The next packet, whatever its timestamp, starts a new timeline.
  mutating func restart() {
    unwrapper = SerialUnwrapper()
    newest = nil
  }

  /// 2.5 ms, the shortest Opus frame.
  var shortest: Int64 { clockRate / 400 }

  /// The media time of a packet's first sample. Nil for a packet from before a jump, whose time is no longer known.
  ///
  /// - Parameters:
  ///   - samples: the packet's length.
  ///   - isRecovered: received by retransmission or as a copy, so it cannot make the timeline jump.
  mutating func place(
    sequence: Int64, timestamp: UInt32, samples: Int64, isRecovered: Bool, now: Instant
  ) -> Int64? {
    let unwrapped = unwrapper.unwrap(timestamp)
    guard let newest else {
      offset = 0 &- unwrapped
      self.newest = (sequence, 0, now)
      return 0
    }
    let media = unwrapped &+ offset
    let steps = sequence &- newest.sequence
    let distance = media &- newest.media
    guard steps > 0 else {
      return steps < 0 && distance < 0 && distance > -Self.slack * clockRate ? media : nil
    }
    let counted = min(steps, Self.longestCount)
    let elapsed = self.samples(max(0, (now - newest.arrival).nanoseconds))
    if distance >= counted * shortest, distance <= elapsed &+ Self.slack * clockRate {
      self.newest = (sequence, media, now)
      return media
    }
    guard !isRecovered else { return nil }
    let placed = newest.media &+ counted * samples
    offset = placed &- unwrapped
    self.newest = (sequence, placed, now)
    return placed
  }

  /// Seconds for which packets may be held up and then arrive in a burst.
  private static let slack: Int64 = 2
  /// Up to this many missing packets, the gap is computed from their number.
  private static let longestCount: Int64 = 50

  func rtpTimestamp(at media: Int64) -> UInt32 {
    UInt32(truncatingIfNeeded: media &- offset)
  }

  func nanoseconds(_ samples: Int64) -> Int64 {
    let (seconds, rest) = samples.quotientAndRemainder(dividingBy: clockRate)
    return seconds &* 1_000_000_000 &+ rest &* 1_000_000_000 / clockRate
  }

  func samples(_ nanoseconds: Int64) -> Int64 {
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return seconds &* clockRate &+ rest &* clockRate / 1_000_000_000
  }

  /// Rounded down to what the decoder can conceal.
  func wholeFrames(_ samples: Int64) -> Int64 {
    samples - samples % shortest
  }
}
