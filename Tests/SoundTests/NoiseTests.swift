import Sound
import TestSupport
import Testing

@Suite struct NoiseTests {
  private func noise(_ colour: NoiseGenerator.Colour, seconds: Double, seed: UInt64 = 1) -> [Float] {
    var generator = NoiseGenerator(colour, seed: seed)
    var samples = [Float](repeating: 0, count: Int(seconds * 48_000))
    #expect(generator.read(into: &samples) == samples.count && generator.length == nil)
    return samples
  }

  /// Mean level at a frequency over pieces of 20 ms, in dB.
  private func density(_ samples: [Int16], hertz: Double) -> Double {
    let pieces = stride(from: 0, to: samples.count - 960, by: 960).map { samples[$0..<$0 + 960] }
    let power = pieces.reduce(0) { sum, piece in
      let amplitude = Decibels.amplitude(ToneDetector.level(of: piece, hertz: hertz))
      return sum + amplitude * amplitude
    }
    return Decibels.from(amplitude: (power / Double(pieces.count)).squareRoot())
  }

  @Test(arguments: NoiseGenerator.Colour.allCases) func noiseIsAsLoudAsItSays(colour: NoiseGenerator.Colour) {
    let samples = noise(colour, seconds: 4)
    let squares = samples.reduce(0) { $0 + Double($1) * Double($1) }
    let level = Decibels.from(amplitude: (2 * squares / Double(samples.count)).squareRoot())
    #expect(abs(level - colour.level) < 1)
    #expect(samples.allSatisfy { abs($0) < 1 })
    // Nothing holds a speaker's cone to one side.
    #expect(abs(samples.reduce(0, +) / Float(samples.count)) < 0.002)
  }

  @Test(arguments: [(NoiseGenerator.Colour.white, 0.0), (.pink, -3.0), (.brown, -6.0)])
  func theColourIsInTheSlope(colour: NoiseGenerator.Colour, perOctave: Double) {
    let samples = noise(colour, seconds: 4).map { Int16($0 * 32767) }
    let levels = [200.0, 400, 800, 1600, 3200, 6400].map { density(samples, hertz: $0) }
    for (lower, upper) in zip(levels, levels.dropFirst()) {
      #expect(abs(upper - lower - perOctave) < 2, "\(levels)")
    }
    #expect(abs(levels[5] - levels[0] - 5 * perOctave) < 2.5, "\(levels)")
  }

  @Test func aSeedSaysWhichNoise() {
    #expect(noise(.pink, seconds: 0.1) == noise(.pink, seconds: 0.1))
    #expect(noise(.pink, seconds: 0.1) != noise(.pink, seconds: 0.1, seed: 2))
  }
}
