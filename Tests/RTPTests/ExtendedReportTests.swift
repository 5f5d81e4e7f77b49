import RTP
import TestSupport
import Testing
import Wire

/// RFC 3611 sections 4.4 and 4.5; laid out by hand where no fixture is named.
@Suite struct ExtendedReportTests {
  private static let referenceTime = "80cf0004 0000002a 04000002 d1f9a32e 80000000"
  private static let answers =
    "80cf0008 0000002b 05000006 0000002a a32e8000 00010000 0000002c 00000000 00000000"

  @Test func readsAndWritesAReferenceTime() throws {
    let bytes = Fixture.hex(Self.referenceTime)
    let packets = try RTCPPacket.parse(compound: bytes)
    #expect(
      packets == [.extendedReport(RTCPExtendedReport(ssrc: 42, receiverReferenceTime: 0xd1f9_a32e_8000_0000))])
    #expect(RTCPPacket.write(compound: packets) == bytes)
    #expect(RTCPExtendedReport.compact(ntpTime: 0xd1f9_a32e_8000_0000) == 0xa32e_8000)
  }

  /// As a viewer in Chromium sends it once its offer has `rrtr`.
  @Test func readsAndWritesTheReferenceTimeOfChromium() throws {
    let bytes = Fixture.bytes("rtcp-rr-rrtr-chromium.bin")
    let packets = try RTCPPacket.parse(compound: bytes)
    #expect(
      packets.last
        == .extendedReport(RTCPExtendedReport(ssrc: 0xfa17_fa17, receiverReferenceTime: 0xeeaf_94ac_1b2d_3c79)))
    #expect(packets.count == 2 && RTCPPacket.write(compound: packets) == bytes)
  }

  @Test func readsAndWritesAnswers() throws {
    let bytes = Fixture.hex(Self.answers)
    let packets = try RTCPPacket.parse(compound: bytes)
    let answers = [
      RTCPExtendedReport.Answer(ssrc: 42, lastReceiverReport: 0xa32e_8000, delaySinceLastReceiverReport: 65536),
      RTCPExtendedReport.Answer(ssrc: 44, lastReceiverReport: 0, delaySinceLastReceiverReport: 0),
    ]
    #expect(packets == [.extendedReport(RTCPExtendedReport(ssrc: 43, answers: answers))])
    #expect(RTCPPacket.write(compound: packets) == bytes)
  }

  @Test func otherBlocksAreSkipped() throws {
    // Loss RLE (1), statistics summary (6), and a kind of the future without a body, around a reference time.
    let bytes = Fixture.hex(
      "80cf0008 0000002a 01000001 00000001 ff000000 04000002 00000001 00000002 06000000")
    #expect(
      try RTCPPacket.parse(compound: bytes) == [
        .extendedReport(RTCPExtendedReport(ssrc: 42, receiverReferenceTime: 0x1_0000_0002))
      ])
  }

  /// A reference time of one word and of three, answers of two words, and nothing at all.
  @Test(arguments: [
    "80cf0003 0000002a 04000001 00000001", "80cf0005 0000002a 04000003 00000001 00000001 00000001",
    "80cf0004 0000002a 05000002 00000001 00000001", "80cf0001 0000002a",
  ])
  func blocksOfAnotherLengthAreSkipped(hex: String) throws {
    #expect(try RTCPPacket.parse(compound: Fixture.hex(hex)).isEmpty)
  }

  @Test(arguments: ["80cf0000", "80cf0002 0000002a 04000002", "80cf0003 0000002a 05000003 00000001"])
  func blocksBeyondTheirPacketAreRefused(hex: String) {
    #expect(throws: WireError.self) { try RTCPPacket.parse(compound: Fixture.hex(hex)) }
  }

  @Test func noMoreAnswersAreKeptThanAReportHasRoomFor() throws {
    let answer = RTCPExtendedReport.Answer(ssrc: 1, lastReceiverReport: 2, delaySinceLastReceiverReport: 3)
    var writer = ByteWriter()
    let count = 5000
    writer.write(contentsOf: [0x80, 0xcf])
    writer.write(UInt16(count * 3 + 2))
    writer.write(UInt32(9))
    writer.write(contentsOf: [5, 0])
    writer.write(UInt16(count * 3))
    for _ in 0..<count {
      for value: UInt32 in [1, 2, 3] { writer.write(value) }
    }
    let kept = RTCPExtendedReport(ssrc: 9, answers: Array(repeating: answer, count: 31))
    #expect(try RTCPPacket.parse(compound: writer.bytes) == [.extendedReport(kept)])
    let many = RTCPExtendedReport(ssrc: 9, answers: Array(repeating: answer, count: 100))
    #expect(
      try RTCPPacket.parse(compound: RTCPPacket.write(compound: [.extendedReport(many)])) == [.extendedReport(kept)])
  }
}
