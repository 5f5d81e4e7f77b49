internal import Frames
internal import Wire

/// Tracks the played sound while a microphone records: the two devices' clocks differ by up to some 100 ppm.
///
/// The adaptive filter learns the room, and a wandering read position looks like a changing room. So the clocks are
/// compared all the time, sound or not, by a line fit over the last minute, and the position moves evenly along it.
struct PlaybackFollower: Sendable {
  /// The line's position at the beginning of the next block.
  private var expected: Double?
  /// A block's deviation from 960 samples.
  private var drift = 0.0
  /// How many blocks the line's position and its slope are based on.
  private var places = 1.0
  private var slopes = firstSlopes
  /// The read position; nil while nothing is read.
  private var position: Double?
  /// How far reading is ahead of the estimated hearing position; with less, an echo could come before its reference.
  private var lead = 0.0

  private static let block = Double(AudioFormat.samplesPerBlock)
  /// In samples: 10 ms; down to 20 ms behind when a device is so late that there is nothing to read yet.
  private static let maximumLead = 480.0
  private static let leastLead = -960.0
  private static let spareLead = 96.0
  /// 10 ms: the device was interrupted.
  private static let jump = 480.0
  /// One minute of blocks.
  private static let memory = 3000.0
  /// With few blocks the slope leans on the tolerance of crystals, some 50 ppm at most, rather than on measurements.
  private static let firstSlopes = 300.0
  /// 500 ppm, more than crystals deviate.
  private static let maximumDrift = 0.48
  /// Maximum rate at which reading follows the line's own corrections: 20 ppm.
  private static let maximumCorrection = 0.02

  /// Call once for each recorded block, needed or not. False if nothing was played.
  mutating func follow(_ played: PlayedSound, at captureTime: Instant) -> Bool {
    guard let measured = played.position(at: captureTime) else { return false }
    guard let expected, abs(measured - expected) < Self.jump else {
      // The drift is still valid; the position is measured again.
      expected = measured + Self.block + drift
      places = 1
      position = nil
      return true
    }
    // Recursive least-squares line (Benedict and Bordner's filter with growing memory).
    let difference = measured - expected
    drift += difference * 6 / (slopes * (slopes + 1))
    drift = min(Self.maximumDrift, max(-Self.maximumDrift, drift))
    self.expected = expected + difference * min(1, 4 / (places + 3)) + Self.block + drift
    places = min(Self.memory, places + 1)
    slopes = min(Self.memory, slopes + 1)
    return true
  }

  /// After `follow`: the sound heard while the block was recorded.
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

  /// Stops reading; the next read starts at the line.
  mutating func rest() {
    position = nil
  }
}
