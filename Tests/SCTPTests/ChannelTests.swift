import TestSupport
import Testing
import Wire

@testable import SCTP

@Suite struct ChannelTests {
  @Test func openIsAnnouncedAndAcknowledged() throws {
    var lab = Lab.connected()
    let parameters = DataChannelParameters(
      label: "steuerung ✓", protocolName: "cradle.control.v1", isOrdered: false, reliability: .maxRetransmits(3),
      priority: 512)
    let id = try lab.openChannel(parameters)
    #expect(id == 0)
    #expect(lab.outputs[1].contains(.opened(id: 0, parameters, byPeer: true)))
    #expect(lab.outputs[0].contains(.opened(id: 0, parameters, byPeer: false)))
    let second = try lab[.server].open(DataChannelParameters(label: "b"), now: lab.now)
    #expect(second == 1)
    lab.run(for: .seconds(1))
    #expect(lab.outputs[0].contains(.opened(id: 1, DataChannelParameters(label: "b"), byPeer: true)))
  }

  @Test func channelAndMessageMayPrecedeTheAssociation() throws {
    var lab = Lab()
    let id = try lab[.client].open(DataChannelParameters(label: "early"), now: lab.now)
    try lab[.client].send(.text("hello"), on: id, now: lab.now)
    #expect(lab[.client].poll() == nil)
    lab[.client].connect(now: lab.now)
    lab.run(for: .seconds(1))
    #expect(lab.messages(at: .server, on: id) == [.text("hello")])
    #expect(lab.outputs[0].first == .associationConnected)
  }

  @Test func negotiatedChannelNeedsNoHandshake() throws {
    var lab = Lab()
    let parameters = DataChannelParameters(label: "n", negotiatedID: 100)
    for end in Lab.End.allCases { #expect(try lab[end].open(parameters, now: lab.now) == 100) }
    #expect(throws: DataChannelError.idInUse(100)) { try lab[.client].open(parameters, now: lab.now) }
    for end in Lab.End.allCases { lab[end].connect(now: lab.now) }
    try lab[.server].send(.binary([1]), on: 100, now: lab.now)
    lab.run(for: .seconds(1))
    #expect(
      lab.outputs[0] == [
        .associationConnected, .opened(id: 100, parameters, byPeer: false), .message(id: 100, .binary([1])),
      ])
  }

  @Test(arguments: 1...6) func closedChannelIsGoneAtBothEndsAndItsIdComesBack(seed: UInt64) throws {
    var lab = Lab.connected(Weather(loss: 0.15, duplication: 0.1, jitter: .milliseconds(30)), seed: seed)
    for round in 0..<3 {
      let id = try lab.openChannel(DataChannelParameters(label: "round \(round)"))
      #expect(id == 0)
      lab.forgetOutputs()
      for number in 0..<5 { try lab[.client].send(.text("\(number)"), on: id, now: lab.now) }
      let closer: Lab.End = round == 1 ? .server : .client
      if closer == .server { lab.run(for: .seconds(30)) { $0.messages(at: .server, on: id).count == 5 } }
      lab[closer].close(id, now: lab.now)
      #expect(throws: DataChannelError.channelClosing(id)) { try lab[closer].send(.text("x"), on: id, now: lab.now) }
      #expect(lab.run(for: .seconds(60)) { $0.isClosed(id, at: .client) && $0.isClosed(id, at: .server) })
      #expect(lab.messages(at: .server, on: id).count == 5)
      #expect(lab.outputs.allSatisfy { $0.filter { $0 == .closed(id: id) }.count == 1 })
    }
  }

  @Test func idIsUsedAgainBeforeTheAnswerToItsResetArrives() throws {
    var lab = Lab.connected()
    let id = try lab.openChannel()
    lab.run(for: .seconds(1))
    let answersArrive = lab.now + .seconds(2)
    lab.tamper = { end, packet, now in
      guard end == .client, now < answersArrive, let parsed = try? Packet(packet) else { return packet }
      // Type 16, a response, is the first parameter.
      return parsed.chunks.contains { $0.type == ChunkType.reconfiguration && $0.value.dropFirst().first == 16 }
        ? nil : packet
    }
    lab[.client].close(id, now: lab.now)
    #expect(lab.run(for: .seconds(1)) { $0.isClosed(id, at: .client) })
    #expect(!lab.isClosed(id, at: .server))
    let again = try lab.openChannel(DataChannelParameters(label: "again"))
    #expect(again == id)
    #expect(lab.isClosed(id, at: .server))
    for number in 0..<3 {
      try lab[.server].send(.text("\(number)"), on: id, now: lab.now)
      lab.run(for: .seconds(2))
    }
    #expect(lab.messages(at: .client, on: id) == [.text("0"), .text("1"), .text("2")])
  }

  @Test func bothCloseAtOnce() throws {
    var lab = Lab.connected()
    let id = try lab.openChannel()
    for end in Lab.End.allCases { lab[end].close(id, now: lab.now) }
    #expect(lab.run(for: .seconds(5)) { $0.isClosed(id, at: .client) && $0.isClosed(id, at: .server) })
  }

  @Test func channelsCloseOneByOneAndTogether() throws {
    var configuration = SCTPConfiguration()
    configuration.maximumRemoteChannels = 20
    var lab = Lab.connected(configuration: configuration)
    let ids = try (0..<20).map { _ in try lab.openChannel() }
    lab[.client].close(ids[3], now: lab.now)
    for id in ids[5...] { lab[.server].close(id, now: lab.now) }
    lab.run(for: .seconds(5))
    #expect(ids.filter { lab.isClosed($0, at: .client) } == [ids[3]] + ids[5...])
    #expect(lab[.client].channels.count == 4)
    #expect(try lab[.client].open(DataChannelParameters(label: "again"), now: lab.now) == ids[3])
  }

  @Test func idsRunOutWithAnError() throws {
    var configuration = SCTPConfiguration()
    configuration.maximumStreams = 4
    var lab = Lab.connected(configuration: configuration)
    #expect(try lab[.client].open(DataChannelParameters(label: "a"), now: lab.now) == 0)
    #expect(try lab[.client].open(DataChannelParameters(label: "b"), now: lab.now) == 2)
    #expect(throws: DataChannelError.tooManyChannels) {
      try lab[.client].open(DataChannelParameters(label: "c"), now: lab.now)
    }
    #expect(throws: DataChannelError.idOutOfRange(4)) {
      try lab[.client].open(DataChannelParameters(label: "d", negotiatedID: 4), now: lab.now)
    }
  }

  @Test func openOfTheWrongParityIsClosed() {
    var lab = Lab.connected()
    let open = DCEPMessage.open(DataChannelParameters(label: "odd")).bytes
    lab[.client].association.send(
      open, payloadProtocolID: PayloadProtocolID.dcep, on: 7, parameters: nil, isUserData: false, now: lab.now)
    lab.run(for: .seconds(2))
    #expect(lab.outputs[1] == [.associationConnected])
    // The server reset its stream, which is how the client would learn of the refusal.
    #expect(lab[.server].channels[7]?.state == .closing(outgoingReset: true, incomingReset: false))
    #expect(lab.isConnected)
  }

  @Test(
    arguments: [
      [], [9], [3], [3, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0x61], [3, 0x55, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ] as [[UInt8]])
  func malformedOpenIsClosed(bytes: [UInt8]) {
    var lab = Lab.connected()
    lab[.client].association.send(
      bytes.isEmpty ? [0xff] : bytes, payloadProtocolID: PayloadProtocolID.dcep, on: 4, parameters: nil,
      isUserData: false, now: lab.now)
    lab.run(for: .seconds(2))
    #expect(lab.outputs[1] == [.associationConnected])
    #expect(lab.isConnected)
  }

  @Test func messagesOnUnknownStreamsAreDropped() {
    var lab = Lab.connected()
    lab[.client].association.send(
      [1], payloadProtocolID: PayloadProtocolID.binary, on: 8, parameters: nil, isUserData: false, now: lab.now)
    lab.run(for: .seconds(2))
    #expect(lab.outputs[1] == [.associationConnected])
    #expect(lab[.server].association.receiver.undelivered == 0)
  }

  @Test func statisticsCountMessagesAndBytes() throws {
    var lab = Lab.connected()
    let id = try lab.openChannel()
    try lab[.client].send(.text("héllo"), on: id, now: lab.now)
    try lab[.client].send(.binary([]), on: id, now: lab.now)
    lab.run(for: .seconds(1))
    let sent = try #require(lab[.client].statistics.channels.first)
    let received = try #require(lab[.server].statistics.channels.first)
    #expect(sent.messagesSent == 2 && sent.bytesSent == 6 && sent.state == .open && sent.label == "control")
    #expect(received.messagesReceived == 2 && received.bytesReceived == 6)
  }

  @Test func priorityDecidesTheShare() throws {
    var lab = Lab.connected()
    let low = try lab.openChannel(DataChannelParameters(label: "low", priority: 128))
    let high = try lab.openChannel(DataChannelParameters(label: "high", priority: 1024))
    for _ in 0..<100 {
      try lab[.client].send(.binary([UInt8](repeating: 0, count: 1000)), on: low, now: lab.now)
      try lab[.client].send(.binary([UInt8](repeating: 0, count: 1000)), on: high, now: lab.now)
    }
    lab.run(for: .seconds(20)) { $0.messages(at: .server, on: high).count >= 40 }
    #expect(lab.messages(at: .server, on: low).count < 12)
  }
}
