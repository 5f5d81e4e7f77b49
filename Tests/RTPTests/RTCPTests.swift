import RTP
import TestSupport
import Testing
import Wire

@Suite struct RTCPTests {
  @Test func readsSenderReportOfFFmpeg() throws {
    let bytes = Fixture.bytes("rtcp-sr-ffmpeg.bin")
    let packets = try RTCPPacket.parse(compound: bytes)
    guard case .senderReport(let report) = try #require(packets.first) else {
      Issue.record("no sender report")
      return
    }
    #expect(report.ssrc == 0x0cc9_fdb8)
    #expect(report.ntpTime == 0xeeac_21a5_9810_624d)
    #expect(report.compactNTPTime == 0x21a5_9810)
    #expect(report.rtpTimestamp == 0x7989_ed11)
    #expect(RTCPPacket.write(compound: packets) == bytes)
  }

  @Test func readsCompoundReportsOfGStreamer() throws {
    let sent = try RTCPPacket.parse(compound: Fixture.bytes("rtcp-sr-sdes-gstreamer.bin"))
    #expect(sent.count == 2)
    guard case .senderReport(let report) = sent[0], case .sourceDescription(let description) = sent[1] else {
      Issue.record("not SR and SDES")
      return
    }
    #expect(description.chunks.map(\.ssrc) == [report.ssrc])
    #expect(description.chunks[0].cname?.hasPrefix("user") == true)

    let received = try RTCPPacket.parse(compound: Fixture.bytes("rtcp-rr-sdes-gstreamer.bin"))
    guard case .receiverReport(let receiver) = received[0] else {
      Issue.record("no receiver report")
      return
    }
    #expect(
      receiver.reportBlocks == [
        RTCPReportBlock(
          ssrc: 0x5b13_7a0c, fractionLost: 0x20, cumulativeLost: 0x41, extendedHighestSequenceNumber: 0x2571,
          jitter: 0x98)
      ])
  }

  @Test(arguments: [
    "rtcp-rr-sdes-aiortc.bin", "rtcp-sr-aiortc.bin", "rtcp-bye-aiortc.bin", "rtcp-nack-aiortc.bin",
    "rtcp-pli-aiortc.bin", "rtcp-remb-aiortc.bin",
  ])
  func writesWhatAiortcWrites(name: String) throws {
    let bytes = Fixture.bytes(name)
    let packets = try RTCPPacket.parse(compound: bytes)
    #expect(!packets.isEmpty)
    #expect(RTCPPacket.write(compound: packets) == bytes)
  }

  @Test func readsTheValuesOfAiortc() throws {
    guard
      case .receiverReport(let report)? = try RTCPPacket.parse(compound: Fixture.bytes("rtcp-rr-sdes-aiortc.bin")).first,
      case .nack(let nack)? = try RTCPPacket.parse(compound: Fixture.bytes("rtcp-nack-aiortc.bin")).first,
      case .receiverEstimatedMaximumBitrate(let estimate)? =
        try RTCPPacket.parse(compound: Fixture.bytes("rtcp-remb-aiortc.bin")).first
    else {
      Issue.record("wrong kinds")
      return
    }
    #expect(report.reportBlocks[0].cumulativeLost == -3)
    let lost: [UInt16] = [2, 12, 32, 39, 54, 76, 110, 123, 142, 183, 187, 223, 236]
    #expect(nack.sequenceNumbers == lost)
    #expect(RTCPNack(senderSSRC: nack.senderSSRC, mediaSSRC: nack.mediaSSRC, lost: lost) == nack)
    // 18 bits of mantissa hold 4160000 up to 16 bit/s.
    #expect(estimate.bitsPerSecond == 4_160_000)
    #expect(estimate.sources == [2_529_072_847])
  }

  @Test func everyKindComesBackAsWritten() throws {
    let block = RTCPReportBlock(
      ssrc: 1, fractionLost: 255, cumulativeLost: -0x80_0000, extendedHighestSequenceNumber: .max, jitter: 7,
      lastSenderReport: 8, delaySinceLastSenderReport: 9)
    let packets: [RTCPPacket] = [
      .senderReport(
        RTCPSenderReport(
          ssrc: 1, ntpTime: .max, rtpTimestamp: 2, packetCount: 3, octetCount: 4,
          reportBlocks: Array(repeating: block, count: 31))),
      .receiverReport(RTCPReceiverReport(ssrc: 2)),
      .sourceDescription(
        RTCPSourceDescription(chunks: (0..<5).map { .init(ssrc: $0, cname: String(repeating: "c", count: Int($0))) })),
      .goodbye(RTCPGoodbye(sources: [1, 2, 3], reason: "asleep")),
      .nack(RTCPNack(senderSSRC: 1, mediaSSRC: 2, lost: [65530, 65535, 0, 10, 11, 40])),
      .pictureLossIndication(RTCPPictureLossIndication(senderSSRC: 1, mediaSSRC: 2)),
      .fullIntraRequest(
        RTCPFullIntraRequest(
          senderSSRC: 1, entries: [.init(ssrc: 5, sequenceNumber: 255), .init(ssrc: 6, sequenceNumber: 0)])
      ),
      .receiverEstimatedMaximumBitrate(
        RTCPReceiverEstimatedMaximumBitrate(senderSSRC: 1, bitsPerSecond: 0x3_ffff << 20, sources: [1, 2])),
    ]
    let bytes = RTCPPacket.write(compound: packets)
    #expect(bytes.count % 4 == 0)
    #expect(try RTCPPacket.parse(compound: bytes) == packets)
  }

  @Test func estimateIsNeverOverstatedByItsMantissa() throws {
    for value: UInt64 in [0, 1, 0x3_ffff, 0x4_0001, 1_234_567, .max] {
      let packet = RTCPPacket.receiverEstimatedMaximumBitrate(
        RTCPReceiverEstimatedMaximumBitrate(senderSSRC: 1, bitsPerSecond: value, sources: []))
      guard
        case .receiverEstimatedMaximumBitrate(let back)? =
          try RTCPPacket.parse(compound: RTCPPacket.write(compound: [packet])).first
      else {
        Issue.record("no REMB")
        return
      }
      #expect(back.bitsPerSecond <= value)
      #expect(back.bitsPerSecond >= value - value / 100_000)
    }
    // Exponent 63 saturates.
    let bytes = Fixture.hex("8fce0004 00000001 00000000 52454d42 00fc0004")
    #expect(
      try RTCPPacket.parse(compound: bytes) == [
        .receiverEstimatedMaximumBitrate(
          RTCPReceiverEstimatedMaximumBitrate(senderSSRC: 1, bitsPerSecond: .max, sources: []))
      ])
  }

  @Test func skipsKindsThatItDoesNotKnow() throws {
    let application = Fixture.hex("80cc0002 00000001 54455354")
    let extendedReport = Fixture.hex("80cf0002 00000001 04000000")
    let sliceLoss = Fixture.hex("82ce0003 00000001 00000002 00000000")
    let otherApplicationLayer = Fixture.hex("8fce0003 00000001 00000002 41424344")
    let indication = Fixture.bytes("rtcp-pli-aiortc.bin")
    let bytes = application + extendedReport + sliceLoss + otherApplicationLayer + indication
    #expect(try RTCPPacket.parse(compound: bytes).count == 1)
  }

  @Test func removesPadding() throws {
    let bytes = Fixture.hex("a1ce0003 00000001 00000002 00000004")
    #expect(
      try RTCPPacket.parse(compound: bytes) == [
        .pictureLossIndication(RTCPPictureLossIndication(senderSSRC: 1, mediaSSRC: 2))
      ])
  }

  @Test func readsGoodbyeReasonAndOtherDescriptionItems() throws {
    let bytes =
      Fixture.hex("81cb0003 00000001 05 6279652121 0000") + Fixture.hex("81ca0003 00000002 0601 41 0101 62 0000")
    #expect(
      try RTCPPacket.parse(compound: bytes) == [
        .goodbye(RTCPGoodbye(sources: [1], reason: "bye!!")),
        .sourceDescription(RTCPSourceDescription(chunks: [.init(ssrc: 2, cname: "b")])),
      ])
  }

  @Test(arguments: [
    "", "80", "80c80006", "40c90001 00000001", "82c90007 00000001", "81c90001 00000001", "a0c90001 00000009",
    "a0c90001 00000000", "81cd0002 00000001 00000002", "84ce0003 00000001 00000002 00000003",
    "81ca0002 00000001 01ff0000",
    "81ca0002 00000001 01026162", "81cb0002 00000001 09000000", "80ce",
  ])
  func refusesWhatIsBroken(hex: String) {
    #expect(throws: WireError.self) { try RTCPPacket.parse(compound: Fixture.hex(hex)) }
  }

  /// One that is broken costs itself alone. After one whose length is wrong nothing more can be found.
  @Test(arguments: [
    ("a0c90001 00000009", 2), ("81cd0002 00000001 00000002", 2), ("84ce0003 00000001 00000002 00000003", 2),
    ("40c90001 00000001", 1), ("80c800ff", 1),
  ])
  func skipsWhatIsBroken(hex: String, kept: Int) throws {
    let indication = Fixture.hex("81ce0002 00000001 00000002")
    let packets = try RTCPPacket.parse(compound: indication + Fixture.hex(hex) + indication)
    #expect(
      packets
        == Array(
          repeating: .pictureLossIndication(RTCPPictureLossIndication(senderSSRC: 1, mediaSSRC: 2)), count: kept))
  }

  /// Wherever it stands, also first, where RFC 3550 section 6.1 wants a report; and beside kinds that are unknown.
  @Test(arguments: [
    // Bad packets: a report that counts more blocks than it has, descriptions without their end, padding of nothing and of too
    // much, feedback that is cut; APP, unknown kinds, and one with good padding.
    "82c90007 00000001 00000002 00000000 00000000 00000000 00000000 00000000", "81ca0002 00000001 01ff0000",
    "a0c90002 00000001 00000000", "a0c90002 00000001 000000ff", "8fcd0003 00000001 00000002 00010001",
    "84ce0003 00000001 00000002 00000003", "80cc0002 00000001 54455354", "80d10001 00000001", "80c00001 00000001",
    "80cf0001 00000001", "9fce0001 00000001", "a0cc0003 00000001 54455354 00000004", "80ff0000",
  ])
  func aBadOrUnknownOneAnywhereCostsItselfAlone(hex: String) throws {
    let odd = Fixture.hex(hex)
    func indication(_ source: UInt8) -> [UInt8] { Fixture.hex("81ce0002 00000001 000000") + [source] }
    func sources(_ bytes: [UInt8]) throws -> [UInt32] {
      try RTCPPacket.parse(compound: bytes).compactMap {
        if case .pictureLossIndication(let indication) = $0 { indication.mediaSSRC } else { nil }
      }
    }
    #expect(try sources(odd + indication(1) + indication(2)) == [1, 2])
    #expect(try sources(indication(1) + odd + indication(2)) == [1, 2])
    #expect(try sources(indication(1) + indication(2) + odd) == [1, 2])
    #expect(try sources(odd + indication(1) + odd + odd + indication(2) + odd) == [1, 2])
  }

  @Test func paddingInTheMiddleIsTakenOffItsPacketAlone() throws {
    let padded = Fixture.hex("a1ce0003 00000001 00000007 00000004")
    let plain = Fixture.hex("81ce0002 00000001 00000008")
    #expect(try RTCPPacket.parse(compound: padded + plain + padded).count == 3)
  }

  @Test func refusesMorePacketsThanAnybodySends() {
    let one = Fixture.hex("80c90001 00000001")
    #expect(throws: Never.self) { try RTCPPacket.parse(compound: Array(repeatElement(one, count: 64).joined())) }
    #expect(throws: WireError.self) { try RTCPPacket.parse(compound: Array(repeatElement(one, count: 65).joined())) }
  }
}
