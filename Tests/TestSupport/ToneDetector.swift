import Foundation

/// Measures how much of one frequency is in a piece of sound (Goertzel's algorithm).
public enum ToneDetector {
  /// The level of a sine of `hertz` in dBFS, most exact when the piece holds whole turns of it; -96 for silence.
  public static func level(of samples: some Collection<Int16>, hertz: Double, sampleRate: Int = 48_000) -> Double {
    guard !samples.isEmpty else { return silence }
    let coefficient = 2 * cos(2 * .pi * hertz / Double(sampleRate))
    var (last, beforeLast) = (0.0, 0.0)
    for sample in samples {
      (last, beforeLast) = (Double(sample) / 32768 + coefficient * last - beforeLast, last)
    }
    let power = last * last + beforeLast * beforeLast - coefficient * last * beforeLast
    let amplitude = 2 * max(0, power).squareRoot() / Double(samples.count)
    return amplitude > 0 ? max(silence, 20 * log10(amplitude)) : silence
  }

  private static let silence = -96.0
}
