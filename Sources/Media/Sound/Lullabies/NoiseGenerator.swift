internal import Frames
internal import Glibc

/// Noise for sleeping: never ends and never repeats, so that no loop is audible.
///
/// The colours are levelled to sound about equally loud, as RMS against a full-scale sine: white -28 dBFS, pink -25,
/// brown -18. The peaks stay below full scale.
public struct NoiseGenerator: SoundSource, Sendable {
  public enum Colour: String, CaseIterable, Sendable {
    /// Equal power per hertz: rain on leaves.
    case white
    /// Equal power per octave, -3 dB per octave: a waterfall.
    case pink
    /// -6 dB per octave: distant surf.
    case brown

    /// RMS in dBFS according to AES17, as `LevelMeter` shows it.
    public var level: Double {
      switch self {
      case .white: -28
      case .pink: -25
      case .brown: -18
      }
    }
  }

  public var length: Int? { nil }
  private var random: UInt64
  private var filters: [OnePole]
  private let direct: Float

  /// The same seed gives the same noise.
  public init(_ colour: Colour, seed: UInt64) {
    random = seed
    let shape = Self.shape(of: colour)
    let scale = Decibels.amplitude(colour.level) / (2 * shape.meanSquare / 3).squareRoot()
    filters = shape.poles.map { pole in
      OnePole(share: Float(pole.share), weight: Float(pole.weight * scale))
    }
    direct = Float(shape.direct * scale)
  }

  public mutating func read(into samples: inout [Float]) -> Int {
    for index in samples.indices {
      let white = nextWhite()
      var value = white * direct
      for pole in filters.indices { value += filters[pole].step(white) }
      samples[index] = value
    }
    return samples.count
  }

  /// Noise sounds the same at any position.
  public mutating func seek(to position: Int) {}

  /// -1..<1, uniformly distributed. SplitMix64 (Steele, Lea, Flood 2014): its period is longer than any night.
  private mutating func nextWhite() -> Float {
    random &+= 0x9E37_79B9_7F4A_7C15
    var mixed = random
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    mixed ^= mixed >> 31
    return Float(Int64(bitPattern: mixed) >> 40) / 8_388_608
  }

  /// A first-order low-pass with its weight in the sum.
  private struct OnePole: Sendable {
    let share: Float
    let weight: Float
    var state: Float = 0

    mutating func step(_ input: Float) -> Float {
      state += share * (input - state)
      return weight * state
    }
  }

  /// Each colour is a sum of low-passes over the same white noise.
  private struct Shape {
    var direct: Double
    /// The share of the difference that a pole takes per sample, and its weight in the sum.
    var poles: [(share: Double, weight: Double)]

    /// Mean square of the sum, for white noise of mean square 1. The sum over n of p^n q^n is 1 / (1 - pq).
    var meanSquare: Double {
      var sum = direct * direct
      for first in poles {
        sum += 2 * direct * first.weight * first.share
        for second in poles {
          sum +=
            first.weight * second.weight * first.share * second.share
            / (1 - (1 - first.share) * (1 - second.share))
        }
      }
      return sum
    }
  }

  private static func shape(of colour: Colour) -> Shape {
    switch colour {
    case .white: return Shape(direct: 1, poles: [])
    case .pink:
      // A pole every one and a half octaves, weighted by the slope there, stays within half a decibel of it.
      let corners = (0..<7).map { 20 * pow(3, Double($0)) }
      return Shape(
        direct: 1 / (3 * corners[6]).squareRoot(), poles: corners.map { pole(hertz: $0, weight: 1 / $0.squareRoot()) })
    case .brown:
      // The difference of two removes frequencies that no speaker reproduces and that only move its cone.
      return Shape(direct: 0, poles: [pole(hertz: 40, weight: 1), pole(hertz: 20, weight: -1)])
    }
  }

  private static func pole(hertz: Double, weight: Double) -> (share: Double, weight: Double) {
    (1 - exp(-2 * .pi * hertz / Double(AudioFormat.sampleRate)), weight)
  }
}
