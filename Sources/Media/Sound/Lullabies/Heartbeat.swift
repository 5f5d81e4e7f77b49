internal import Frames
internal import Glibc

/// A calm heartbeat at 60 beats a minute, as heard from inside: a soft double thump, -10 dBFS peak. Never ends.
public struct Heartbeat: SoundSource, Sendable {
  public static let beatsPerMinute = 60
  public var length: Int? { nil }
  private var position = 0

  private static let samplesPerBeat = AudioFormat.sampleRate * 60 / beatsPerMinute
  /// The first heart sound and the second, a third of the beat later, shorter, brighter and softer.
  private static let thumps = [
    Thump(start: 0, hertz: 62, decay: 0.055, amplitude: 1),
    Thump(start: samplesPerBeat * 31 / 100, hertz: 78, decay: 0.04, amplitude: 0.62),
  ]

  public init() {}

  public mutating func read(into samples: inout [Float]) -> Int {
    for index in samples.indices {
      samples[index] = Self.thumps.reduce(0) { $0 + $1.value(at: position) }
      position = position + 1 == Self.samplesPerBeat ? 0 : position + 1
    }
    return samples.count
  }

  public mutating func seek(to position: Int) {
    self.position = max(0, position) % Self.samplesPerBeat
  }

  private struct Thump: Sendable {
    /// Samples from the beginning of the beat.
    let start: Int
    let hertz: Double
    /// Seconds.
    let decay: Double
    let amplitude: Double

    private static let samples = AudioFormat.sampleRate * 28 / 100
    /// Scales the louder one to the peak stated above.
    private static let scale = 0.367

    func value(at position: Int) -> Float {
      guard position >= start, position < start + Self.samples else { return 0 }
      let time = Double(position - start) / Double(AudioFormat.sampleRate)
      // Rises over a few hundredths of a second and decays; the overtone is the part that small speakers can reproduce.
      let rise = time / decay
      let envelope = rise * rise * exp(2 - 2 * rise)
      let angle = 2 * Double.pi * hertz * time
      return Float(Self.scale * amplitude * envelope * (0.65 * sin(angle) + 0.35 * sin(2 * angle)))
    }
  }
}
