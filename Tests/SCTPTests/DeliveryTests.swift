import TestSupport
import Testing
import Wire

@testable import SCTP

private let badWiFi = Weather(loss: 0.2, duplication: 0.1, jitter: .milliseconds(30))

private func numbered(_ count: Int, size: Int = 40) -> [DataChannelMessage] {
  (0..<count).map { .text("\($0) " + String(repeating: "x", count: size)) }
}

@Suite struct DeliveryTests {
  @Test(arguments: 1...8) func everythingArrivesInOrderOnBadWiFi(seed: UInt64) throws {
    var lab = Lab.connected(badWiFi, seed: seed)
    let id = try lab.openChannel()
    let up = numbered(150)
    let down = numbered(60, size: 2500)
    for message in up { try lab[.client].send(message, on: id, now: lab.now) }
    for message in down { try lab[.server].send(message, on: id, now: lab.now) }
    #expect(
      lab.run(for: .seconds(300)) {
        $0.messages(at: .server, on: id).count == up.count && $0.messages(at: .client, on: id).count == down.count
      })
    lab.run(for: .seconds(5))
    #expect(lab.messages(at: .server, on: id) == up)
    #expect(lab.messages(at: .client, on: id) == down)
  }

  /// What is said before closing has arrived when this says so, however often its datagram was lost.
  @Test(arguments: 1...8) func acknowledgedMeansArrived(seed: UInt64) throws {
    var lab = Lab.connected(Weather(loss: 0.5), seed: seed)
    let id = try lab.openChannel()
    lab.run(for: .seconds(60)) { $0[.server].isAllAcknowledged && $0[.client].isAllAcknowledged }
    try lab[.server].send(.text("goodbye"), on: id, now: lab.now)
    #expect(!lab[.server].isAllAcknowledged)
    #expect(lab.run(for: .seconds(60)) { $0[.server].isAllAcknowledged })
    #expect(lab.messages(at: .client, on: id) == [.text("goodbye")])
  }

  @Test func numbersWrapUnnoticed() throws {
    var lab = Lab.connected(badWiFi, seed: 4, initialTSN: UInt32.max - 20)
    let id = try lab.openChannel()
    lab[.client].association.sender.queue.setNextSequenceNumber(65530, of: id)
    lab[.server].association.receiver.reassembly.setNextSequenceNumber(65530, of: id)
    let messages = numbered(100, size: 900)
    for message in messages { try lab[.client].send(message, on: id, now: lab.now) }
    lab.run(for: .seconds(120)) { $0.messages(at: .server, on: id).count == messages.count }
    #expect(lab.messages(at: .server, on: id) == messages)
  }

  @Test func largestMessageArrives() throws {
    var lab = Lab.connected(Weather(loss: 0.05, jitter: .milliseconds(10)), seed: 2)
    let id = try lab.openChannel()
    let large = DataChannelMessage.binary((0..<65536).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try lab[.client].send(large, on: id, now: lab.now)
    try lab[.client].send(.text("after"), on: id, now: lab.now)
    lab.run(for: .seconds(60)) { $0.messages(at: .server, on: id).count == 2 }
    #expect(lab.messages(at: .server, on: id) == [large, .text("after")])
  }

  @Test func oversizedMessageIsRefusedBeforeItIsSent() throws {
    var lab = Lab.connected()
    let id = try lab.openChannel()
    #expect(throws: DataChannelError.messageTooLarge(limit: 65536)) {
      try lab[.client].send(.binary([UInt8](repeating: 0, count: 65537)), on: id, now: lab.now)
    }
    #expect(lab[.client].bufferedAmount(of: id) == 0)
  }

  @Test func oversizedMessageFromPeerEndsTheAssociation() throws {
    var small = SCTPConfiguration()
    small.maximumMessageSize = 5000
    var lab = Lab.connected(serverConfiguration: small)
    let id = try lab.openChannel()
    try lab[.client].send(.binary([UInt8](repeating: 0, count: 5001)), on: id, now: lab.now)
    lab.run(for: .seconds(5))
    #expect(lab.closeReason(at: .server) == .protocolViolation("message longer than max-message-size"))
    #expect(lab.closeReason(at: .client) == .abortedByPeer("protocol violation: message longer than max-message-size"))
  }

  @Test func emptyMessagesKeepTheirKind() throws {
    var lab = Lab.connected()
    let id = try lab.openChannel()
    let messages: [DataChannelMessage] = [.text(""), .binary([]), .text("a"), .binary([0])]
    for message in messages { try lab[.client].send(message, on: id, now: lab.now) }
    lab.run(for: .seconds(1))
    #expect(lab.messages(at: .server, on: id) == messages)
  }

  @Test func illFormedTextIsRepaired() throws {
    var lab = Lab.connected()
    let id = try lab.openChannel()
    lab[.client].association.send(
      [0x61, 0xff, 0x62], payloadProtocolID: PayloadProtocolID.text, on: id, parameters: nil, isUserData: true,
      now: lab.now)
    lab.run(for: .seconds(1))
    #expect(lab.messages(at: .server, on: id) == [.text("a\u{fffd}b")])
  }

  @Test func unorderedMessagesDoNotWaitForALostOne() throws {
    var lab = Lab.connected()
    let id = try lab.openChannel(DataChannelParameters(label: "u", isOrdered: false))
    lab.weather.loss = 1
    try lab[.client].send(.text("lost at first"), on: id, now: lab.now)
    lab.run(for: .milliseconds(10))
    lab.weather.loss = 0
    try lab[.client].send(.text("second"), on: id, now: lab.now)
    lab.run(for: .milliseconds(100))
    #expect(lab.messages(at: .server, on: id) == [.text("second")])
    lab.run(for: .seconds(3))
    #expect(lab.messages(at: .server, on: id) == [.text("second"), .text("lost at first")])
  }

  @Test func aLossOnOneChannelDoesNotHoldUpAnother() throws {
    var lab = Lab.connected()
    let first = try lab.openChannel()
    let second = try lab.openChannel()
    lab.weather.loss = 1
    try lab[.client].send(.text("lost"), on: first, now: lab.now)
    lab.run(for: .milliseconds(10))
    lab.weather.loss = 0
    try lab[.client].send(.text("quick"), on: second, now: lab.now)
    lab.run(for: .milliseconds(100))
    #expect(lab.messages(at: .server, on: second) == [.text("quick")])
    #expect(lab.messages(at: .server, on: first) == [])
  }

  @Test func fastRetransmitComesBeforeTheTimeout() throws {
    var lab = Lab.connected()
    let id = try lab.openChannel()
    lab.weather.loss = 1
    try lab[.client].send(.text("0"), on: id, now: lab.now)
    lab.run(for: .milliseconds(1))
    lab.weather.loss = 0
    let start = lab.now
    for number in 1...5 {
      try lab[.client].send(.text("\(number)"), on: id, now: lab.now)
      lab.run(for: .milliseconds(1))
    }
    #expect(lab.run(for: .seconds(5)) { $0.messages(at: .server, on: id).count == 6 })
    #expect(lab.now - start < .milliseconds(150))
    #expect(lab[.client].statistics.transport.chunksRetransmitted == 1)
  }

  @Test func cleanNetworkSeesNoRetransmission() throws {
    var lab = Lab.connected()
    let id = try lab.openChannel()
    for message in numbered(200, size: 3000) { try lab[.client].send(message, on: id, now: lab.now) }
    let start = lab.now
    #expect(lab.run(for: .seconds(60)) { $0.messages(at: .server, on: id).count == 200 })
    #expect(lab.now - start < .seconds(2))
    lab.run(for: .seconds(1))
    let statistics = lab[.client].statistics.transport
    #expect(statistics.chunksRetransmitted == 0)
    #expect(statistics.unackData == 0)
    #expect(statistics.congestionWindow > 20000)
    #expect(try #require(statistics.smoothedRoundTripTime) >= 0.04)
    // Every second packet is acknowledged, not every one.
    #expect(lab.packetsSent[1] < lab.packetsSent[0] * 2 / 3)
  }

  @Test func messagesSentTogetherShareAPacket() throws {
    var lab = Lab.connected()
    let id = try lab.openChannel()
    lab.run(for: .seconds(1))
    let before = lab.packetsSent[0]
    for number in 0..<10 { try lab[.client].send(.text("\(number)"), on: id, now: lab.now) }
    lab.drain()
    #expect(lab.packetsSent[0] == before + 1)
  }

  @Test func fullSendBufferRefuses() throws {
    var configuration = SCTPConfiguration()
    configuration.sendBufferSize = 100_000
    var lab = Lab.connected(configuration: configuration)
    let id = try lab.openChannel()
    let message = DataChannelMessage.binary([UInt8](repeating: 7, count: 40_000))
    try lab[.client].send(message, on: id, now: lab.now)
    try lab[.client].send(message, on: id, now: lab.now)
    #expect(throws: DataChannelError.bufferFull) { try lab[.client].send(message, on: id, now: lab.now) }
    #expect(lab[.client].bufferedAmount(of: id) == 80_000)
    #expect(lab.run(for: .seconds(5)) { $0[.client].bufferedAmount(of: id) <= 30_000 })
    lab.run(for: .seconds(5))
    #expect(lab.messages(at: .server, on: id).count == 2)
  }

  @Test func shutWindowIsProbedUntilItOpens() throws {
    var lab = Lab.connected()
    let id = try lab.openChannel()
    let message = DataChannelMessage.binary([UInt8](repeating: 7, count: 60_000))
    let close = Instant.zero + .seconds(1)
    let open = Instant.zero + .seconds(300)
    lab.run(for: close - lab.now)
    // The server's SACKs claim a window of zero, and its receiver takes nothing, for five minutes.
    lab.tamper = { end, packet, now in
      guard now >= close, now < open else { return packet }
      guard let parsed = try? Packet(packet) else { return packet }
      if end == .client {
        // An old TSN makes the server answer without taking anything.
        return makePacket(tag: parsed.verificationTag) { packet in
          for chunk in parsed.chunks {
            guard chunk.type == ChunkType.data, var data = try? DataChunk(chunk) else {
              packet.append(chunk)
              continue
            }
            data.tsn &-= 100_000
            data.write(to: &packet)
          }
        }
      }
      return makePacket(tag: parsed.verificationTag) { packet in
        for chunk in parsed.chunks {
          guard chunk.type == ChunkType.sack, var sack = try? SackChunk(chunk.value) else {
            packet.append(chunk)
            continue
          }
          sack.advertisedWindow = 0
          sack.write(to: &packet)
        }
      }
    }
    for _ in 0..<4 { try lab[.client].send(message, on: id, now: lab.now) }
    lab.run(for: open - lab.now)
    #expect(lab.isConnected)
    #expect(lab.messages(at: .server, on: id).isEmpty)
    #expect(lab.packetsSent[0] < 150)
    #expect(lab.run(for: .seconds(60)) { $0.messages(at: .server, on: id).count == 4 })
  }

  @Test func readerThatDoesNotPollShutsTheWindow() throws {
    let lab = Lab.connected()
    var association = lab[.server].association
    let free = association.receiver.freeWindow
    var tsn = association.receiver.tsns.cumulativeTSN
    let tag = association.localTag
    for number in 0..<2000 {
      tsn &+= 1
      let chunk = DataChunk(
        flags: [.beginning, .end], tsn: tsn, streamID: 0, streamSequenceNumber: UInt16(number), payloadProtocolID: 53,
        payload: [UInt8](repeating: 1, count: 1000)[...])
      association.handle(packet: makePacket(tag: tag) { chunk.write(to: &$0) }, now: lab.now)
    }
    #expect(association.receiver.freeWindow == 0)
    #expect(association.receiver.undelivered <= 2 * free)
    var sacks = 0
    while association.nextPacket() != nil { sacks += 1 }
    #expect(sacks == 1)
    while let event = association.events.popFirst() {
      if case .message(let message) = event { association.delivered(message) }
    }
    #expect(association.receiver.freeWindow == free)
    // The open window is announced without being asked for.
    #expect(association.nextPacket() != nil)
  }
}
