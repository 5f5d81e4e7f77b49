import Frames
import TestSupport
import Testing
import Wire

@testable import Sound

@Suite struct ToneGeneratorTests {
  /// One second from the given wall-clock time on.
  private func second(from unixNanoseconds: Int64) -> [Int16] {
    var generator = ToneGenerator()
    return (0..<50).flatMap { block in
      generator.makeBlock(
        captureTime: .zero, samplePosition: UInt64(block * 960),
        unixNanoseconds: unixNanoseconds + Int64(block) * 20_000_000
      ).samples
    }
  }

  @Test func theToneIsOneKilohertzAtMinusTwentyDecibels() {
    let samples = second(from: 5_000_000_000)[9600..<19200]
    #expect(abs(ToneDetector.level(of: samples, hertz: 1000) + 20) < 0.1)
    #expect(ToneDetector.level(of: samples, hertz: 2000) < -60)
  }

  @Test func theBeepMarksTheFullSecondForATenth() {
    let samples = second(from: 7_000_000_000)
    #expect(abs(ToneDetector.level(of: samples[0..<4800], hertz: 2000) + 20) < 0.1)
    #expect(ToneDetector.level(of: samples[4800..<9600], hertz: 2000) < -50)
    #expect(abs(ToneDetector.level(of: samples[4800..<9600], hertz: 1000) + 20) < 0.1)
  }

  @Test func theBeepMayStartWithinABlock() {
    // The second turns 10 ms into the 26th block.
    let samples = second(from: 1_490_000_000)
    let turn = 48 * 510
    #expect(ToneDetector.level(of: samples[turn - 960..<turn], hertz: 1000) > -20.2)
    #expect(ToneDetector.level(of: samples[turn..<turn + 960], hertz: 2000) > -20.2)
  }

  @Test func thePhaseRunsThrough() {
    let samples = second(from: 1_910_000_000)
    // The steepest step of a 2 kHz tone at this level is 858.
    for index in samples.indices.dropFirst() {
      #expect(abs(Int(samples[index]) - Int(samples[index - 1])) <= 860)
    }
  }

  @Test func blocksCarryTheirStamps() {
    var generator = ToneGenerator()
    let block = generator.makeBlock(captureTime: Instant(nanoseconds: 4), samplePosition: 960, unixNanoseconds: -1)
    #expect(block.captureTime == Instant(nanoseconds: 4) && block.samplePosition == 960)
  }
}

@Suite struct LevelMeterTests {
  @Test func aLevelComesFiveTimesASecond() {
    var meter = LevelMeter()
    var generator = ToneGenerator()
    var levels: [LevelMeter.Level] = []
    for index in 0..<50 {
      let block = generator.makeBlock(
        captureTime: .zero, samplePosition: 0, unixNanoseconds: Int64(index) * 20_000_000)
      if let level = meter.add(block.samples) { levels.append(level) }
    }
    #expect(levels.count == 5)
    for level in levels {
      #expect(abs(level.rms + 20) < 0.1)
      #expect(abs(level.peak + 20) < 0.1)
    }
    #expect(meter.level == levels.last)
  }

  @Test func silenceAndFullScaleAreTheEnds() {
    var meter = LevelMeter()
    #expect(meter.level.rms == Decibels.silence)
    #expect(meter.add([Int16](repeating: 0, count: 9600)) == .init(rms: Decibels.silence, peak: Decibels.silence))
    let full = meter.add([Int16](repeating: .min, count: 9600))
    #expect(full?.peak == 0)
  }

  @Test func piecesOfAnySizeAddUp() {
    var meter = LevelMeter()
    var count = 0
    for _ in 0..<100 where meter.add([Int16](repeating: 1000, count: 441)) != nil { count += 1 }
    #expect(count == 44_100 / LevelMeter.window)
  }
}
