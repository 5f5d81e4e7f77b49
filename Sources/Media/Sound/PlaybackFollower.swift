internal import Frames
internal import Wire

/// Keeps its place in what is played while a microphone records: the two devices' clocks differ by up to some 100 ppm.
///
/// The filter behind it learns the room, and a place that wanders is a room that changes. So the clocks are compared all
/// the time, sound or not, as a straight line through the last minute, and the place moves evenly along that line.
struct PlaybackFollower: Sendable {
  /// Where the line is at the beginning of the next block.
  private var expected: Double?
  /// What a block's length differs from 960 samples.
  private var drift = 0.0
  /// How many blocks the line's place and its slope rest on.
  private var places = 1.0
  private var slopes = firstSlopes
  /// Where reading goes on; nil while nothing is read.
  private var position: Double?
  /// How much of what is played is given before it can have been heard: less would be an echo before its sound.
  private var lead = 0.0

  private static let block = Double(AudioFormat.samplesPerBlock)
  /// Samples: 10 ms, and none when a device is so late that there is nothing yet.
  private static let maximumLead = 480.0
  private static let leastLead = -960.0
  private static let spareLead = 96.0
  /// 10 ms: a device that was interrupted.
  private static let jump = 480.0
  /// One minute of blocks.
  private static let memory = 3000.0
  /// With few blocks the slope is taken for what crystals have, some 50 ppm at most, rather than for what is measured.
  private static let firstSlopes = 300.0
  /// 500 ppm, more than crystals differ.
  private static let maximumDrift = 0.48
  /// While reading, the line's own corrections are followed so fast: 20 ppm.
  private static let maximumCorrection = 0.02

  /// Once for each block that is recorded, whether it is needed or not. False if nothing was played.
  mutating func follow(_ played: PlayedSound, at captureTime: Instant) -> Bool {
    guard let measured = played.position(at: captureTime) else { return false }
    guard let expected, abs(measured - expected) < Self.jump else {
      // What is known of the clocks still holds; the place is found anew.
      expected = measured + Self.block + drift
      places = 1
      position = nil
      return true
    }
    // The line of least squares, one point after the other (Benedict and Bordner's filter with growing memory).
    let difference = measured - expected
    drift += difference * 6 / (slopes * (slopes + 1))
    drift = min(Self.maximumDrift, max(-Self.maximumDrift, drift))
    self.expected = expected + difference * min(1, 4 / (places + 3)) + Self.block + drift
    places = min(Self.memory, places + 1)
    slopes = min(Self.memory, slopes + 1)
    return true
  }

  /// After `follow`: what was heard while the block was recorded.
  mutating func read(_ played: PlayedSound, into samples: inout [Int16]) {
    guard let expected else { return }
    let begin = expected - Self.block - drift
    if position == nil {
      lead = min(Self.maximumLead, max(Self.leastLead, Double(played.end) - expected - Self.spareLead))
    }
    let place = position ?? begin + lead
    let correction = min(Self.maximumCorrection, max(-Self.maximumCorrection, (begin + lead - place) / 500))
    let length = Self.block + drift + correction
    played.read(from: place, step: length / Self.block, into: &samples)
    position = place + length
  }

  /// Nothing is read any more; the next time begins at the line.
  mutating func rest() {
    position = nil
  }
}
