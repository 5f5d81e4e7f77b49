import Sound
import Testing

@Suite struct CrossfadeTests {
  @Test func fadesBeginAndEndInSilence() {
    var samples = [Int16](repeating: 10_000, count: 300)
    Crossfade.fadeIn(&samples, 0..<100)
    Crossfade.fadeOut(&samples, 200..<300)
    #expect(samples[0] == 0 && samples[50] == 5000 && samples[100...199].allSatisfy { $0 == 10_000 })
    #expect(samples[249] == 5000 && samples[299] == 0)
    #expect(zip(samples, samples.dropFirst()).allSatisfy { abs(Int($0) - Int($1)) <= 100 })
  }

  @Test func whatLiesOutsideIsLeftOut() {
    var samples: [Int16] = [.min, .max]
    Crossfade.fadeIn(&samples, 5..<9)
    Crossfade.fadeOut(&samples, 2..<2)
    #expect(samples == [.min, .max])
    Crossfade.fadeOut(&samples, -3..<70)
    #expect(samples == [Int16.min / 2, 0])
  }

  @Test func extremesDoNotOverflow() {
    #expect(Crossfade.mix(.min, .max, step: 0, of: 10) == .min)
    #expect(Crossfade.mix(.min, .max, step: 10, of: 10) == .max)
    #expect(Crossfade.mix(.max, .min, step: 20, of: 10) == .min)
    #expect(Crossfade.mix(3, 9, step: 0, of: 0) == 3)
  }
}
