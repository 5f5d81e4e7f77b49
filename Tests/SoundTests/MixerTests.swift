import Sound
import Testing

@Suite struct MixerTests {
  private let quiet = [Int16](repeating: 0, count: 480)
  private let loud = (0..<480).map { $0 % 48 < 24 ? Int16(6000) : -6000 }

  /// The music's level at the end of so many blocks of 10 ms, for music that is 0.1 all the time.
  private func music(_ mixer: inout Mixer, blocks: Int, under voice: [Int16]) -> Float {
    var output = quiet
    for _ in 0..<blocks {
      var music = [Float](repeating: 0.1, count: 480)
      mixer.mix(music: &music, voice: voice, voiceGain: 0, into: &output)
    }
    return Float(output[479]) / 32767
  }

  @Test func volumeIsAScaleForEars() {
    #expect(Volume.amplitude(100) == 1 && Volume.amplitude(0) == 0 && Volume.amplitude(50) == 0.25)
    #expect(Volume.amplitude(80, maximum: 60) == Volume.amplitude(60))
    #expect(Volume.amplitude(-3) == 0 && Volume.amplitude(1000) == 1 && Volume.amplitude(50, maximum: -1) == 0)
  }

  @Test func musicGoesDownUnderAVoiceAndComesBack() {
    var mixer = Mixer()
    #expect(abs(music(&mixer, blocks: 5, under: quiet) - 0.1) < 1e-3)
    #expect(music(&mixer, blocks: 5, under: loud) < 0.023)
    let low = music(&mixer, blocks: 20, under: loud)
    #expect(abs(Decibels.from(amplitude: Double(low) / 0.1) + 18) < 0.5)
    // Between two words it stays where it is.
    #expect(music(&mixer, blocks: 40, under: quiet) < 0.014)
    // The pause is over: within 600 ms it is back but for a tenth of the way.
    #expect(music(&mixer, blocks: 20, under: quiet) < 0.08)
    #expect(music(&mixer, blocks: 50, under: quiet) > 0.09)
    #expect(abs(music(&mixer, blocks: 200, under: quiet) - 0.1) < 1e-3)
  }

  @Test func duckingIsSmooth() {
    var mixer = Mixer()
    var sound: [Int16] = []
    for block in 0..<200 {
      var music = [Float](repeating: 0.5, count: 480)
      var output = quiet
      mixer.mix(music: &music, voice: (20..<60).contains(block) ? loud : quiet, voiceGain: 0, into: &output)
      sound += output
    }
    #expect(zip(sound, sound.dropFirst()).allSatisfy { abs(Int($0) - Int($1)) < 20 })
  }

  @Test func aSumThatIsTooLoudIsBentAndNeverWraps() {
    var mixer = Mixer()
    var output = quiet
    for value: Float in [0.9, -0.9, 5, -.infinity, .nan] {
      var music = [Float](repeating: value, count: 480)
      mixer.mix(music: &music, voice: quiet, voiceGain: 1, into: &output)
      #expect(output.allSatisfy { abs(Int($0)) <= 32_112 })
      #expect(!value.isFinite || output.allSatisfy { ($0 > 0) == (value > 0) })
    }
    #expect(SoftLimiter.limit(0.5) == 0.5 && SoftLimiter.limit(-0.7) == -0.7)
    let rising = (0...400).map { SoftLimiter.limit(Float($0) / 100) }
    #expect(zip(rising, rising.dropFirst()).allSatisfy { $0 < $1 && $1 - $0 <= 0.0101 } && rising[400] < 0.98)
  }

  @Test func voiceAndMusicAddUp() {
    var mixer = Mixer()
    var output = quiet
    var music = [Float](repeating: 0, count: 480)
    mixer.mix(music: &music, voice: loud, voiceGain: 0.5, into: &output)
    #expect(zip(output, loud).allSatisfy { abs(Int($0) - Int($1) / 2) <= 1 })
  }

  @Test func rampsReachTheirEndAndFadeToSilenceBehindIt() {
    var samples = [Float](repeating: 1, count: 100)
    Gain.ramp(&samples, from: 0, to: 0.5, count: 50)
    #expect(abs(samples[49] - 0.5) < 1e-6 && abs(samples[24] - 0.25) < 1e-6 && samples[50...].allSatisfy { $0 == 0 })
    Gain.ramp(&samples, from: 1, to: 1, count: 1000)
    #expect(abs(samples[49] - 0.5) < 1e-6)
    Gain.ramp(&samples, from: 1, to: 1, count: 0)
    #expect(samples.allSatisfy { $0 == 0 })
  }

  @Test func aStockGivesBackInOrderWhatItTook() {
    var stock = SoundStock(capacity: 1000)
    var expected: Float = 0
    var next: Float = 0
    var samples = [Float](repeating: 0, count: 70)
    for _ in 0..<100 {
      let piece = (0..<min(90, stock.room)).map { _ in
        next += 1
        return next
      }
      stock.append(piece[...])
      let count = stock.take(into: &samples)
      for sample in samples[..<count] {
        expected += 1
        guard sample == expected else { return #expect(Bool(false), "\(sample)") }
      }
    }
    stock.append([Float](repeating: 1, count: 5000)[...])
    #expect(stock.room == 0 && stock.count == 1000)
    samples = [Float](repeating: 7, count: 1100)
    #expect(stock.take(into: &samples) == 1000 && samples[1000...].allSatisfy { $0 == 0 } && stock.count == 0)
  }
}
