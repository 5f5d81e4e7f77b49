import TestSupport
import Testing
import Wire

@testable import SCTP

@Suite struct PartsTests {
  @Test func receivedTSNsAgreeWithASet() {
    var random = SeededGenerator(seed: 11)
    for _ in 0..<50 {
      var tsns = ReceivedTSNs(initialTSN: .max - 5)
      let base = tsns.cumulative
      var model: Set<Int64> = []
      for _ in 0..<200 {
        let tsn = base + Int64.random(in: 1...60, using: &random)
        if Int.random(in: 0..<60, using: &random) == 0 {
          tsns.forward(to: tsn)
          for passed in base + 1...tsn { model.insert(passed) }
        } else {
          #expect((tsns.arrival(of: tsn) == .duplicate) == model.contains(tsn))
          if tsns.arrival(of: tsn) == .new { tsns.insert(tsn) }
          model.insert(tsn)
        }
        var cumulative = base
        while model.contains(cumulative + 1) { cumulative += 1 }
        #expect(tsns.cumulative == cumulative)
        #expect(tsns.gaps.flatMap { Array($0) } == model.filter { $0 > cumulative }.sorted())
      }
    }
  }

  @Test func holesAreBounded() {
    var tsns = ReceivedTSNs(initialTSN: 1)
    for tsn in stride(from: Int64(3), to: 2000, by: 2) where tsns.arrival(of: tsn) == .new { tsns.insert(tsn) }
    #expect(tsns.gaps.count == 256)
    #expect(tsns.arrival(of: 70_000) == .refused)
  }

  @Test func timeoutFollowsTheRFC() {
    var timeout = RetransmissionTimeout(SCTPConfiguration())
    #expect(timeout.current == .seconds(1))
    timeout.measured(.milliseconds(400))
    #expect(timeout.current == .milliseconds(1200))
    timeout.backOff()
    #expect(timeout.current == .milliseconds(2400))
    for _ in 0..<50 { timeout.measured(.milliseconds(10)) }
    #expect(timeout.current == .milliseconds(400))
    for _ in 0..<50 { timeout.backOff() }
    #expect(timeout.current == .seconds(10))
  }

  @Test func sackFromTheFutureIsIgnored() throws {
    var lab = Lab.connected()
    let id = try lab.openChannel()
    lab.weather.loss = 1
    try lab[.client].send(.text("x"), on: id, now: lab.now)
    lab.drain()
    let tag = lab[.client].association.localTag
    let next = lab[.client].association.sender.nextTSN
    for sack in [
      SackChunk(cumulativeTSN: next, advertisedWindow: 0, gaps: [], duplicates: []),
      SackChunk(cumulativeTSN: next &- 100, advertisedWindow: 0, gaps: [.init(start: 1, end: 9)], duplicates: []),
    ] {
      lab[.client].handle(packet: makePacket(tag: tag) { sack.write(to: &$0) }, now: lab.now)
    }
    #expect(lab[.client].statistics.transport.unackData == 1)
    #expect(lab[.client].statistics.transport.receiverWindow > 0)
  }

  @Test func fragmentsOfAGivenUpMessageAreForgotten() {
    var reassembly = Reassembly(maximumMessageSize: 1000, maximumStreams: 1)
    func chunk(_ tsn: UInt32, _ flags: DataChunk.Flags, _ number: UInt16) -> DataChunk {
      DataChunk(
        flags: flags, tsn: tsn, streamID: 0, streamSequenceNumber: number, payloadProtocolID: 53,
        payload: [UInt8(tsn)][...])
    }
    _ = reassembly.insert(chunk(1, .beginning, 0), tsn: 1, cumulative: 0)
    _ = reassembly.insert(chunk(2, [], 0), tsn: 2, cumulative: 1)
    _ = reassembly.insert(chunk(4, [.beginning, .end], 1), tsn: 4, cumulative: 2)
    #expect(reassembly.takeReady().isEmpty)
    reassembly.forward(to: 3, skips: [.init(streamID: 0, streamSequenceNumber: 0)])
    #expect(reassembly.takeReady().map(\.payload) == [[4]])
    #expect(reassembly.bytesHeld == 0)
    // A middle whose beginning can never come is not kept.
    _ = reassembly.insert(chunk(5, [], 2), tsn: 5, cumulative: 4)
    #expect(reassembly.bytesHeld == 0)
  }

  @Test(arguments: [
    DataChannelParameters(label: ""), DataChannelParameters(label: "ü", protocolName: "p", isOrdered: false),
    DataChannelParameters(label: "a", reliability: .maxRetransmits(.max), priority: 1024),
    DataChannelParameters(label: "a", isOrdered: false, reliability: .maxPacketLifeTime(milliseconds: 1)),
  ])
  func openMessageSurvivesTheWire(parameters: DataChannelParameters) throws {
    #expect(try DCEPMessage(DCEPMessage.open(parameters).bytes) == .open(parameters))
  }

  @Test func checksumIsThatOfTheRFC() {
    // RFC 3720 section B.4: 32 zero bytes.
    #expect(CRC32C.checksum([UInt8](repeating: 0, count: 32)) == 0x8a91_36aa)
  }
}
