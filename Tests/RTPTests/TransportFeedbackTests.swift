import RTP
import TestSupport
import Testing
import Wire

@Suite struct TransportFeedbackTests {
  private func parse(_ bytes: [UInt8]) throws -> RTCPTransportFeedback {
    guard case .transportFeedback(let feedback)? = try RTCPPacket.parse(compound: bytes).first else {
      throw WireError.malformed("no transport feedback")
    }
    return feedback
  }

  private func feedback(_ statuses: [RTCPTransportFeedback.PacketStatus]) -> RTCPTransportFeedback {
    RTCPTransportFeedback(
      senderSSRC: 1, mediaSSRC: 2, baseSequenceNumber: 65530, referenceTime: 0xff_ffff, feedbackCount: 255,
      statuses: statuses)
  }

  @Test func readsRunOfGStreamer() throws {
    let feedback = try parse(Fixture.bytes("rtcp-transport-cc-run-gstreamer.bin"))
    #expect(feedback.mediaSSRC == 0x5b13_7a0c)
    #expect(feedback.baseSequenceNumber == 0x0206)
    #expect(feedback.referenceTime == 0x6d)
    #expect(feedback.feedbackCount == 0x97)
    #expect(feedback.statuses == [.received(delta: 0x42), .received(delta: 1)])
  }

  @Test func readsVectorOfGStreamerPaddedWithoutThePaddingBit() throws {
    let feedback = try parse(Fixture.bytes("rtcp-transport-cc-vector-gstreamer.bin"))
    #expect(
      feedback.statuses == [
        .received(delta: 0x41), .notReceived, .notReceived, .received(delta: 0x8b), .received(delta: 1),
        .received(delta: 0),
      ])
  }

  /// The examples of sections 3.1.3 and 3.1.4 of the draft.
  @Test func readsTheChunksOfTheDraft() throws {
    // A run of 221 packets not received.
    let run = try parse(Fixture.hex("8fcd0005 00000001 00000002 0000 00dd 000001 00 00dd 0000"))
    #expect(run.statuses == Array(repeating: .notReceived, count: 221))
    // One-bit vector: one lost, five received, three lost, three received, two lost.
    let oneBit = try parse(
      Fixture.hex("8fcd0007 00000001 00000002 0000 000e 000001 00 9f1c 01 02 03 04 05 06 07 08 0000"))
    let received = oneBit.statuses.map { $0 != .notReceived }
    #expect(received == [0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0].map { $0 == 1 })
    // Two-bit vector: lost, large, three small, two lost.
    let twoBit = try parse(Fixture.hex("8fcd0006 00000001 00000002 0000 0007 000001 00 c950 ff38 0a 0b 0c 00"))
    #expect(
      twoBit.statuses == [
        .notReceived, .received(delta: -200), .received(delta: 10), .received(delta: 11), .received(delta: 12),
        .notReceived, .notReceived,
      ])
  }

  @Test func anyStatusesComeBackAsWritten() throws {
    var random = SeededGenerator(seed: 7)
    for round in 0..<300 {
      let count = Int.random(in: 1...(round % 10 == 0 ? 3000 : 60), using: &random)
      let style = Int.random(in: 0..<4, using: &random)
      var statuses: [RTCPTransportFeedback.PacketStatus] = []
      while statuses.count < count {
        let run = style == 0 ? 1 : Int.random(in: 1...20, using: &random)
        let status: RTCPTransportFeedback.PacketStatus =
          switch Int.random(in: 0..<(style == 1 ? 2 : 3), using: &random) {
          case 0: .notReceived
          case 1: .received(delta: Int16.random(in: 0...255, using: &random))
          default: .received(delta: Int16.random(in: .min ... .max, using: &random))
          }
        statuses += repeatElement(status, count: min(run, count - statuses.count))
      }
      let written = feedback(statuses)
      let bytes = RTCPPacket.write(compound: [.transportFeedback(written)])
      #expect(bytes.count % 4 == 0)
      #expect(try parse(bytes) == written)
    }
  }

  @Test func longRunsAreSplit() throws {
    let written = feedback(Array(repeating: .notReceived, count: 8192))
    let bytes = RTCPPacket.write(compound: [.transportFeedback(written)])
    #expect(bytes.count == 24)
    #expect(try parse(bytes) == written)
  }

  @Test(arguments: [
    // No statuses; more than the limit; chunks missing; deltas missing; reserved symbol 3.
    "8fcd0004 00000001 00000002 0000 0000 000001 00", "8fcd0005 00000001 00000002 0000 2001 000001 00 1fff 1fff",
    "8fcd0004 00000001 00000002 0000 0001 000001 00", "8fcd0005 00000001 00000002 0000 0010 000001 00 2010 0101",
    "8fcd0005 00000001 00000002 0000 0001 000001 00 6001 0101", "8fcd0002 00000001 00000002",
  ])
  func refusesWhatIsBroken(hex: String) {
    #expect(throws: WireError.self) { try parse(Fixture.hex(hex)) }
  }
}
