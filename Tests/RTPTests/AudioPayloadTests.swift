import RTP
import TestSupport
import Testing
import Wire

@Suite struct OpusPacketInfoTests {
  /// Configuration number, code and count byte against RFC 6716 table 2.
  @Test(arguments: [
    (0, 0, 480), (3, 0, 2880), (3, 1, 5760), (9, 0, 960), (12, 0, 480), (13, 2, 1920), (16, 0, 120), (19, 0, 960),
    (31, 1, 1920), (28, 0, 120),
  ])
  func tellsTheDuration(configuration: Int, code: Int, samples: Int) throws {
    let info = try OpusPacketInfo(parsing: [UInt8(configuration << 3 | code)])
    #expect(info.samplesAt48kHz == samples)
    #expect(!info.isStereo)
  }

  @Test func readsTheFrameCountByte() throws {
    let packet: [UInt8] = [31 << 3 | 4 | 3, 0xc0 | 6]
    let info = try OpusPacketInfo(parsing: packet)
    #expect(info.samplesAt48kHz == 5760)
    #expect(info.frameCount == 6 && info.isStereo)
  }

  @Test(arguments: [[], [0xfb], [0xfb, 0], [0xfb, 7]] as [[UInt8]])
  func refusesWhatIsBroken(packet: [UInt8]) {
    #expect(throws: WireError.self) { try OpusPacketInfo(parsing: packet) }
  }
}

@Suite struct RedundantAudioTests {
  @Test func comesBackAsWritten() throws {
    let written = RedundantAudio(
      redundant: [
        .init(payloadType: 111, timestampOffset: 1920, data: [1, 2, 3]),
        .init(payloadType: 111, timestampOffset: 960, data: [4]),
      ], primaryPayloadType: 111, primary: [5, 6])
    let bytes = written.write()
    #expect(bytes == Fixture.hex("ef1e0003 ef0f0001 6f 010203 04 0506"))
    #expect(try RedundantAudio(parsing: bytes[...]) == written)
  }

  @Test func leavesOutWhatDoesNotFitItsFields() {
    let audio = RedundantAudio(
      redundant: [
        .init(payloadType: 111, timestampOffset: 0x4000, data: [1]),
        .init(payloadType: 111, timestampOffset: 960, data: ArraySlice(repeating: 0, count: 1024)),
      ], primaryPayloadType: 111, primary: [5])
    #expect(audio.write() == [111, 5])
  }

  @Test func refusesWhatIsCutShortOrEndless() {
    for hex in ["", "ef", "ef0f0001", "ef0f0005 6f 01"] {
      #expect(throws: WireError.self) { try RedundantAudio(parsing: Fixture.hex(hex)[...]) }
    }
    let endless = Array(repeatElement(Fixture.hex("ef0f0000"), count: 17).joined()) + [111]
    #expect(throws: WireError.self) { try RedundantAudio(parsing: endless[...]) }
  }
}
