import TestSupport
import Testing
import Wire

@testable import SCTP

@Suite struct AssociationTests {
  @Test func oneSideConnects() {
    var lab = Lab()
    lab[.client].connect(now: lab.now)
    #expect(lab.run(for: .seconds(1)) { $0.isConnected })
    #expect(lab.outputs == [[.associationConnected], [.associationConnected]])
  }

  @Test func bothSidesConnectAtOnce() {
    var lab = Lab()
    for end in Lab.End.allCases { lab[end].connect(now: lab.now) }
    #expect(lab.run(for: .milliseconds(200)) { $0.isConnected })
    lab.run(for: .seconds(5))
    #expect(lab.outputs == [[.associationConnected], [.associationConnected]])
  }

  @Test(arguments: 1...30) func connectsUnderHeavyLoss(seed: UInt64) {
    var lab = Lab(Weather(loss: 0.3, duplication: 0.2, jitter: .milliseconds(300)), seed: seed)
    for end in Lab.End.allCases { lab[end].connect(now: lab.now) }
    #expect(lab.run(for: .seconds(60)) { $0.isConnected })
    #expect(lab.outputs.allSatisfy { $0.filter { $0 == .associationConnected }.count == 1 })
  }

  @Test func handshakeWithoutPeerEndsInBoundedTime() {
    var lab = Lab(Weather(loss: 1))
    lab[.client].connect(now: lab.now)
    #expect(lab.run(for: .seconds(80)) { $0.closeReason(at: .client) == .handshakeTimedOut })
    #expect(lab.packetsSent[0] == 9)
    #expect(lab[.client].nextDeadline == nil)
  }

  @Test func deadPeerIsNoticedWhileSending() throws {
    var lab = Lab.connected()
    let id = try lab.openChannel()
    lab.weather.loss = 1
    let start = lab.now
    try lab[.client].send(.text("anybody there?"), on: id, now: lab.now)
    #expect(lab.run(for: .seconds(120)) { $0.closeReason(at: .client) == .peerUnreachable })
    #expect(lab.now - start < .seconds(90))
    #expect(lab.now - start > .seconds(30))
    #expect(lab.isClosed(id, at: .client))
  }

  @Test func deadPeerIsNoticedWhileIdle() {
    var lab = Lab.connected()
    lab.run(for: .seconds(120))
    #expect(lab.isConnected)
    lab.weather.loss = 1
    #expect(lab.run(for: .seconds(120)) { $0.closeReason(at: .client) == .peerUnreachable })
  }

  @Test func outageOfHalfAMinuteIsSurvived() throws {
    var lab = Lab.connected()
    let id = try lab.openChannel()
    lab.weather.loss = 1
    try lab[.client].send(.text("first"), on: id, now: lab.now)
    lab.run(for: .seconds(30))
    lab.weather.loss = 0
    let back = lab.now
    #expect(lab.run(for: .seconds(15)) { $0.messages(at: .server, on: id) == [.text("first")] })
    #expect(lab.now - back < .seconds(11))
  }

  @Test func shutdownDeliversEverythingFirst() throws {
    var lab = Lab.connected(Weather(loss: 0.1), seed: 3)
    let id = try lab.openChannel()
    let messages = (0..<50).map { DataChannelMessage.binary([UInt8](repeating: UInt8($0), count: 3000)) }
    for message in messages { try lab[.client].send(message, on: id, now: lab.now) }
    lab[.client].shutdown(now: lab.now)
    #expect(throws: DataChannelError.associationClosed) {
      try lab[.client].send(.text("late"), on: id, now: lab.now)
    }
    #expect(lab.run(for: .seconds(60)) { $0.closeReason(at: .client) != nil && $0.closeReason(at: .server) != nil })
    #expect(lab.messages(at: .server, on: id) == messages)
    #expect(lab.closeReason(at: .client) == .shutDown)
    #expect(lab.closeReason(at: .server) == .shutDown)
  }

  @Test func bothShutDownAtOnce() {
    var lab = Lab.connected()
    for end in Lab.End.allCases { lab[end].shutdown(now: lab.now) }
    #expect(
      lab.run(for: .seconds(5)) { $0.closeReason(at: .client) == .shutDown && $0.closeReason(at: .server) == .shutDown }
    )
  }

  @Test func abortEndsBothSidesAtOnce() throws {
    var lab = Lab.connected()
    let id = try lab.openChannel()
    lab[.server].abort(now: lab.now)
    lab.run(for: .milliseconds(100))
    #expect(lab.closeReason(at: .server) == .aborted)
    #expect(lab.closeReason(at: .client) == .abortedByPeer("user-initiated abort"))
    #expect(lab.outputs[0].suffix(2).first == .closed(id: id))
    #expect(lab[.client].nextDeadline == nil)
  }

  @Test func closedAssociationNeedsNoTimer() throws {
    var lab = Lab.connected()
    let id = try lab.openChannel()
    lab.run(for: .seconds(1))
    // A SACK is still owed when the end comes.
    try lab[.client].send(.text("x"), on: id, now: lab.now)
    lab.run(for: .milliseconds(30))
    #expect(lab.messages(at: .server, on: id).count == 1)
    lab[.server].abort(now: lab.now)
    lab.drain()
    #expect(lab[.server].nextDeadline == nil)
  }

  @Test func foreignVerificationTagIsIgnored() {
    var lab = Lab.connected()
    let tag = lab[.client].association.localTag
    for chunk in [ChunkType.abort, ChunkType.shutdownComplete, ChunkType.shutdownAck, ChunkType.data] {
      lab[.client].handle(packet: makePacket(tag: tag &+ 1) { $0.append(type: chunk) }, now: lab.now)
    }
    // The T bit makes a packet legal only with the peer's tag.
    lab[.client].handle(packet: makePacket(tag: tag) { $0.append(type: ChunkType.abort, flags: 1) }, now: lab.now)
    #expect(lab[.client].isConnected)
    #expect(lab[.client].statistics.transport.packetsDiscarded == 5)
    #expect(lab[.client].poll() == nil)
  }

  @Test func wrongChecksumAndPortsAreIgnored() {
    var lab = Lab.connected()
    let tag = lab[.client].association.localTag
    var packet = makePacket(tag: tag) { $0.append(type: ChunkType.abort) }
    packet[15] ^= 0
    packet[8] ^= 1
    lab[.client].handle(packet: packet, now: lab.now)
    var other = PacketBuilder(sourcePort: 5001, destinationPort: 5000, verificationTag: tag, maximumSize: 100)
    other.append(type: ChunkType.abort)
    lab[.client].handle(packet: other.finish(), now: lab.now)
    #expect(lab[.client].isConnected)
  }

  @Test func restartOfPeerInsideSameDTLSIsIgnored() {
    var lab = Lab.connected()
    var newcomer = DataChannelTransport(
      configuration: SCTPConfiguration(), isDTLSClient: true, hashes: TestHashes(), random: SeededGenerator(seed: 99))
    newcomer.connect(now: lab.now)
    guard case .transmit(let packet) = newcomer.poll() else {
      Issue.record("no INIT")
      return
    }
    lab[.server].handle(packet: packet, now: lab.now)
    #expect(lab[.server].poll() == nil)
    #expect(lab[.server].isConnected)
  }

  @Test func forgedCookieIsIgnored() {
    var lab = Lab()
    lab.tamper = { end, packet, _ in
      var packet = packet
      guard end == .client, packet.count > 60, packet[12] == ChunkType.cookieEcho else { return packet }
      packet[20] ^= 1
      return makePacket(
        tag: UInt32(packet[4]) << 24 | UInt32(packet[5]) << 16 | UInt32(packet[6]) << 8 | UInt32(packet[7])
      ) {
        $0.append(RawChunk(type: ChunkType.cookieEcho, flags: 0, value: packet[16...]))
      }
    }
    lab[.client].connect(now: lab.now)
    #expect(lab.run(for: .seconds(120)) { $0.closeReason(at: .client) == .handshakeTimedOut })
    #expect(!lab[.server].isConnected)
    // INIT ACK is all that a stranger gets.
    #expect(lab.packetsSent[1] == 1)
  }

  @Test func staleCookieIsRefusedAndTheHandshakeBeginsAgain() {
    var lab = Lab()
    // Every COOKIE ECHO of the first 65 s is lost, so the first one to arrive is too old.
    lab.tamper = { end, packet, now in
      end == .client && packet[12] == ChunkType.cookieEcho && now < Instant.zero + .seconds(61) ? nil : packet
    }
    var configuration = SCTPConfiguration()
    configuration.maximumInitRetransmissions = 20
    lab[.client] = DataChannelTransport(
      configuration: configuration, isDTLSClient: true, hashes: TestHashes(), random: SeededGenerator(seed: 5))
    lab[.client].connect(now: lab.now)
    lab.run(for: .seconds(61))
    #expect(!lab.isConnected)
    #expect(lab.run(for: .seconds(15)) { $0.isConnected })
    // INIT ACK, ERROR with the stale cookie cause, INIT ACK, COOKIE ACK.
    #expect(lab.packetsSent[1] == 4)
  }

  @Test func unknownChunksFollowTheirHighBits() {
    var lab = Lab.connected()
    let tag = lab[.client].association.localTag
    func answer(to type: UInt8) -> [UInt8] {
      lab[.client].handle(
        packet: makePacket(tag: tag) {
          $0.append(type: type)
          $0.append(type: ChunkType.heartbeat) { $0.write(contentsOf: [0, 1, 0, 8, 1, 2, 3, 4]) }
        }, now: lab.now)
      var types: [UInt8] = []
      while case .transmit(let packet) = lab[.client].poll() {
        types += (try? Packet(packet))?.chunks.map(\.type) ?? []
      }
      return types
    }
    #expect(answer(to: 0x3f) == [])
    #expect(answer(to: 0x7f) == [ChunkType.error])
    #expect(answer(to: 0xbf) == [ChunkType.heartbeatAck])
    #expect(answer(to: 0xff) == [ChunkType.error, ChunkType.heartbeatAck])
  }

  @Test func garbageMeetsSilenceAfterAWhile() {
    var lab = Lab.connected()
    let tag = lab[.client].association.localTag
    var answers = 0
    for _ in 0..<1000 {
      lab[.client].handle(packet: makePacket(tag: tag) { $0.append(type: 0xff) }, now: lab.now)
      while lab[.client].poll() != nil { answers += 1 }
    }
    #expect(answers == 32)
  }

  @Test func repeatedInitsAreNotQueuedWithoutBound() {
    var server = DataChannelTransport(
      configuration: SCTPConfiguration(), isDTLSClient: false, hashes: TestHashes(), random: SeededGenerator(seed: 1))
    var client = DataChannelTransport(
      configuration: SCTPConfiguration(), isDTLSClient: true, hashes: TestHashes(), random: SeededGenerator(seed: 2))
    client.connect(now: .zero)
    guard case .transmit(let initiation) = client.poll() else {
      Issue.record("no INIT")
      return
    }
    for _ in 0..<100 { server.handle(packet: initiation, now: .zero) }
    var answers = 0
    while server.poll() != nil { answers += 1 }
    #expect(answers == ControlQueue.maximumPackets)
  }
}
