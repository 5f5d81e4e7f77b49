public import Frames
internal import Glibc
public import Wire

/// The sound of the `test` microphone: 1 kHz at -20 dBFS, and 2 kHz for the first 100 ms of each wall-clock second. The
/// phase is continuous, so that a gap or a repeated block is audible and measurable.
public struct ToneGenerator: Sendable {
  public static let toneHertz = 1000
  public static let levelDecibels = -20.0
  private static let beepNanoseconds: Int64 = 100_000_000

  /// One period at 48 kHz is 48 samples for 1 kHz and 24 for 2 kHz: both are integer steps in this table.
  private static let table: [Int16] = (0..<AudioFormat.sampleRate / toneHertz).map { index in
    let angle = 2 * Double.pi * Double(index * toneHertz) / Double(AudioFormat.sampleRate)
    return Int16((sin(angle) * Decibels.amplitude(levelDecibels) * 32768).rounded())
  }

  private var phase = 0

  public init() {}

  /// The next 20 ms; `unixNanoseconds` is the wall clock at `captureTime`, the first sample's.
  public mutating func makeBlock(captureTime: Instant, samplePosition: UInt64, unixNanoseconds: Int64) -> AudioBlock {
    var samples: [Int16] = []
    samples.reserveCapacity(AudioFormat.samplesPerBlock)
    let second: Int64 = 1_000_000_000
    let start = ((unixNanoseconds % second) + second) % second
    for index in 0..<AudioFormat.samplesPerBlock {
      samples.append(Self.table[phase])
      let time = (start + Int64(index) * second / Int64(AudioFormat.sampleRate)) % second
      phase = (phase + (time < Self.beepNanoseconds ? 2 : 1)) % Self.table.count
    }
    return AudioBlock(samples: samples, captureTime: captureTime, samplePosition: samplePosition)
  }
}
