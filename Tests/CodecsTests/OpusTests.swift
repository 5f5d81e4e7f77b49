import Codecs
import Frames
import Sound
import TestSupport
import Testing
import Wire

@Suite struct OpusTests {
  /// Half a second of the test tone, away from the beep.
  private func blocks() -> [AudioBlock] {
    var generator = ToneGenerator()
    return (0..<25).map { index in
      generator.makeBlock(
        captureTime: Instant(nanoseconds: Int64(index) * 20_000_000), samplePosition: UInt64(index * 960),
        unixNanoseconds: 300_000_000 + Int64(index) * 20_000_000)
    }
  }

  @Test func aToneComesBackAtItsLevel() throws {
    let encoder = try OpusEncoder()
    let decoder = try OpusDecoder()
    var heard: [Int16] = []
    var bytes = 0
    for block in blocks() {
      let packet = try encoder.encode(block)
      #expect(packet.samplePosition == block.samplePosition && packet.captureTime == block.captureTime)
      bytes += packet.data.count
      heard += try decoder.decode(packet.data)
    }
    #expect(heard.count == 25 * 960)
    let level = ToneDetector.level(of: heard.suffix(9600), hertz: 1000)
    #expect(abs(level - ToneGenerator.levelDecibels) < 1.5)
    #expect(ToneDetector.level(of: heard.suffix(9600), hertz: 2000) < level - 30)
    #expect(bytes * 8 * 2 < 60_000)
  }

  /// RFC 6716 section 3.1: the first five bits say the mode; 12 to 15 are hybrid, 16 and above know no speech layer.
  @Test func speechModesAreForPathsThatLosePackets() throws {
    let encoder = try OpusEncoder()
    func modes() throws -> [UInt8] { try blocks().map { try encoder.encode($0).data[0] >> 3 } }
    #expect(try modes().allSatisfy { 12...15 ~= $0 })
    try encoder.setExpectedLoss(percent: 0)
    #expect(try modes().suffix(20).allSatisfy { $0 >= 16 })
    try encoder.setExpectedLoss(percent: OpusEncoder.lossyPathPercent)
    #expect(try modes().suffix(20).allSatisfy { 12...15 ~= $0 })
  }

  /// The settings that the child chooses from.
  @Test(arguments: [6, 10, 15, 20, 30]) func aLostPacketIsRestoredFromTheNextOne(expectedLoss: Int) throws {
    let encoder = try OpusEncoder(expectedLossPercent: expectedLoss)
    let packets = try blocks().map { try encoder.encode($0).data }
    func level(restoring: Bool) throws -> Double {
      let decoder = try OpusDecoder()
      for packet in packets[..<15] { _ = try decoder.decode(packet) }
      let samples = restoring ? try decoder.decodeLost(before: packets[16]) : try decoder.conceal()
      #expect(samples.count == 960)
      return ToneDetector.level(of: samples, hertz: 1000)
    }
    let restored = try level(restoring: true)
    #expect(abs(restored - ToneGenerator.levelDecibels) < 1)
    #expect(restored > (try level(restoring: false)) + 1)
  }

  @Test func theRateFollowsItsSetting() throws {
    let encoder = try OpusEncoder(bitrateKbps: 24, expectedLossPercent: 0)
    func bytes() throws -> Int { try blocks().reduce(0) { $0 + (try encoder.encode($1).data.count) } }
    _ = try bytes()
    let low = try bytes()
    try encoder.setBitrate(kbps: 96)
    try encoder.setExpectedLoss(percent: 5)
    #expect(try bytes() > 2 * low)
  }

  @Test func whatIsNoPacketIsAnError() throws {
    let decoder = try OpusDecoder()
    #expect(throws: CodecError.self) { try decoder.decode([]) }
    #expect(throws: CodecError.self) { try decoder.decode([0xff, 0xff, 0xff]) }
    #expect(throws: CodecError.self) { try decoder.conceal(samples: 7) }
    #expect(try decoder.conceal().count == 960)
  }
}
