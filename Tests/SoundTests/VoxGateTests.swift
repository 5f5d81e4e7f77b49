import Frames
import Sound
import Testing

@Suite struct VoxGateTests {
  private static let blockSamples = AudioFormat.samplesPerBlock

  /// 20 ms of a square wave; every block has its own amplitude, by which it is known again.
  private func block(_ amplitude: Int16) -> [Int16] {
    (0..<Self.blockSamples).map { $0 / 24 % 2 == 0 ? amplitude : -amplitude }
  }

  private func seconds(_ count: Double) -> Int { Int(count * 50) }

  @Test func itStaysSilentBelowTheLevel() {
    var gate = VoxGate(threshold: -40)
    for _ in 0..<seconds(20) {
      #expect(gate.pass(block(50)).allSatisfy { $0 == 0 })
      #expect(!gate.isOpen)
    }
  }

  /// It opens after a window of the meter at most, and what came before is heard from its first sample on.
  @Test func theFirstCryIsHeardWhole() {
    var gate = VoxGate(threshold: -40)
    for _ in 0..<seconds(10) { _ = gate.pass(block(20)) }
    var heard: [Int16] = []
    let cry = (0..<seconds(2)).map { Int16(3000 + $0) }
    for amplitude in cry { heard += gate.pass(block(amplitude)) }
    for _ in 0..<seconds(4) { heard += gate.pass(block(20)) }
    for amplitude in cry { #expect(heard.contains(amplitude), "\(amplitude)") }
    // In their order.
    let places = cry.compactMap { heard.firstIndex(of: $0) }
    #expect(places == places.sorted())
  }

  /// Three seconds are kept, and the quiet ones among them are played four times as fast.
  @Test func itCatchesUpInQuiet() {
    var gate = VoxGate(threshold: -40)
    for _ in 0..<seconds(10) { _ = gate.pass(block(20)) }
    var blocks = 0
    while !gate.pass(block(8000)).contains(8000) {
      blocks += 1
      #expect(blocks < seconds(1.2))
      if blocks > seconds(2) { break }
    }
  }

  @Test func itClosesAfterFiveSecondsOfQuietAndNotBefore() {
    var gate = VoxGate(threshold: -40)
    for _ in 0..<seconds(1) { _ = gate.pass(block(8000)) }
    for _ in 0..<seconds(4.5) { _ = gate.pass(block(20)) }
    #expect(gate.isOpen)
    for _ in 0..<seconds(1) { _ = gate.pass(block(20)) }
    #expect(!gate.isOpen)
    #expect(gate.pass(block(20)).allSatisfy { $0 == 0 })
    for _ in 0..<seconds(0.5) { _ = gate.pass(block(8000)) }
    #expect(gate.isOpen)
  }

  @Test func blocksOfAnyLengthPass() {
    var gate = VoxGate(threshold: -40)
    #expect(gate.pass([]).isEmpty)
    for count in [1, 119, 120, 5760, 48_000, 480_000] {
      _ = gate.pass([Int16](repeating: .min, count: count))
    }
    #expect(gate.isOpen)
  }

  @Test func theAlarmIsHeardOverEverythingAndEnds() {
    var tone = AlarmTone()
    var samples = block(100)
    tone.mix(into: &samples, loudness: 0)
    #expect(samples == block(100))
    var loudest: Int16 = 0
    for _ in 0..<50 {
      var block = block(0)
      tone.mix(into: &block, loudness: 1)
      loudest = max(loudest, block.map { $0 == .min ? .max : abs($0) }.max() ?? 0)
    }
    #expect(loudest > 15_000)
    for _ in 0..<2 {
      samples = block(0)
      tone.mix(into: &samples, loudness: 0)
    }
    #expect(samples.allSatisfy { $0 == 0 })
  }
}
