internal import Frames
internal import Wire

/// The microphone's media clock, which continues when the microphone is reopened.
///
/// A source counts its samples from zero, and listeners get the count as RTP timestamps. Within a stream these must not
/// jump backwards: the clock advances whether or not anything is sent. RFC 3550 section 5.1.
struct MediaClock: Sendable {
  /// Offset added to the source's own count.
  private var offset: UInt64 = 0
  /// The end of the last block, as a position on this clock and as a time.
  private var end: (position: UInt64, time: Instant)?

  /// A block's position in samples. The time between two sources counts as lost samples.
  mutating func position(of block: AudioBlock) -> UInt64 {
    var position = block.samplePosition &+ offset
    if let end, position < end.position {
      position = end.position &+ Self.samples(in: block.captureTime - end.time)
      offset = position &- block.samplePosition
    }
    end = (position &+ UInt64(AudioFormat.samplesPerBlock), block.captureTime + AudioFormat.blockDuration)
    return position
  }

  /// Rounded; zero for a negative duration.
  private static func samples(in time: Duration) -> UInt64 {
    let (seconds, rest) = max(0, time.nanoseconds).quotientAndRemainder(dividingBy: 1_000_000_000)
    let rate = Int64(AudioFormat.sampleRate)
    return UInt64(seconds * rate + (rest * rate + 500_000_000) / 1_000_000_000)
  }
}
