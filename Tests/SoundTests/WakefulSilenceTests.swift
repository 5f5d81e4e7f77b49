import Sound
import Testing

/// What a speaker gets in place of zeros.
@Suite struct WakefulSilenceTests {
  @Test func noTenMillisecondsAreZeroAndNothingIsLouderThanTheLastBit() {
    var silence = WakefulSilence()
    var sum = 0
    for _ in 0..<1000 {
      var samples = [Int16](repeating: 0, count: 480)
      silence.fill(&samples)
      #expect(samples.contains { $0 != 0 } && samples.allSatisfy { -1...1 ~= $0 })
      sum += samples.reduce(0) { $0 + Int($1) }
    }
    #expect(abs(sum) < 4000)
  }

  @Test func soundStaysAsItIs() {
    var silence = WakefulSilence()
    var samples: [Int16] = [0, 0, 7, 0]
    silence.fill(&samples)
    #expect(samples == [0, 0, 7, 0])
  }
}
