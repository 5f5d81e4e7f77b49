import CLinux
import TestSupport
import Testing
import Wire

@testable import SCTP

/// A peer that is let in and then wants to fill our memory: what it can make us keep is bounded and small.
@Suite struct HostilePeerTests {
  private func packet(for transport: DataChannelTransport, _ body: (inout PacketBuilder) -> Void) -> [UInt8] {
    makePacket(tag: transport.association.localTag, body)
  }

  private func nextTSN(of transport: DataChannelTransport) -> UInt32 {
    transport.association.receiver.tsns.cumulativeTSN &+ 1
  }

  /// Each fragment of one byte comes with 16 KB of a chunk that is to be skipped.
  @Test func aFragmentDoesNotKeepItsPacket() {
    let lab = Lab.connected()
    var server = lab[.server]
    let first = nextTSN(of: server)
    let filler = [UInt8](repeating: 0, count: 16_000)
    let before = mallinfo2().uordblks
    for index: UInt32 in 0..<400 {
      let fragment = DataChunk(
        flags: index == 0 ? .beginning : [], tsn: first &+ index, streamID: 0, streamSequenceNumber: 0,
        payloadProtocolID: PayloadProtocolID.binary, payload: [1])
      let bytes = packet(for: server) { packet in
        fragment.write(to: &packet)
        packet.append(RawChunk(type: 0xbf, flags: 0, value: filler[...]))
      }
      server.handle(packet: bytes, now: lab.now)
      while server.poll() != nil {}
    }
    let growth = Int(mallinfo2().uordblks) - Int(before)
    #expect(server.association.receiver.reassembly.bytesHeld == 400 * (1 + Reassembly.overhead))
    #expect(growth < 2_000_000, "the packets together have 6.4 MB")
  }

  @Test func fragmentsInAnyOrderBecomeTheMessage() {
    var random = SeededGenerator(seed: 5)
    let payload = (0..<100).map { UInt8($0) }
    for _ in 0..<20 {
      var reassembly = Reassembly(maximumMessageSize: 1000, maximumStreams: 1)
      for index in (0..<100).shuffled(using: &random) {
        // Each is a slice out of something longer.
        let flags: DataChunk.Flags = index == 0 ? .beginning : index == 99 ? .end : []
        let chunk = DataChunk(
          flags: flags, tsn: UInt32(index), streamID: 0, streamSequenceNumber: 0, payloadProtocolID: 53,
          payload: payload[index...index])
        let isTaken = reassembly.insert(chunk, tsn: Int64(index), cumulative: -1)
        #expect(isTaken)
      }
      #expect(reassembly.takeReady().map(\.payload) == [payload])
      #expect(reassembly.bytesHeld == 0)
    }
  }

  @Test(arguments: [(256, 256, true), (257, 0, false), (0, 257, false), (60_000, 0, false)])
  func namesAreBounded(label: Int, protocolName: Int, isTaken: Bool) throws {
    var lab = Lab.connected()
    let parameters = DataChannelParameters(
      label: String(repeating: "l", count: label), protocolName: String(repeating: "p", count: protocolName))
    let id = try lab[.client].open(parameters, now: lab.now)
    lab.run(for: .seconds(20))
    #expect(lab.isOpen(id, at: .server) == isTaken)
    #expect(lab.isClosed(id, at: .client) != isTaken)
    #expect(lab.outputs[1].contains(.opened(id: id, parameters, byPeer: true)) == isTaken)
    #expect(lab[.server].channels.count == (isTaken ? 1 : 0))
    #expect(lab.isConnected)
  }

  @Test func furtherChannelsAreClosedAndTheirPlacesComeBack() throws {
    var lab = Lab.connected()
    let ids = try (0..<20).map { try lab[.client].open(DataChannelParameters(label: "\($0)"), now: lab.now) }
    lab.run(for: .seconds(10))
    #expect(ids.filter { lab.isOpen($0, at: .server) } == Array(ids.prefix(8)))
    #expect(ids.filter { lab.isClosed($0, at: .client) } == Array(ids.dropFirst(8)))
    #expect(lab[.server].channels.count == 8)
    lab[.client].close(ids[0], now: lab.now)
    lab.run(for: .seconds(2))
    let next = try lab.openChannel(DataChannelParameters(label: "next"))
    #expect(lab.isOpen(next, at: .server))
    // What this end opens is its own affair.
    for number in 0..<20 { _ = try lab[.server].open(DataChannelParameters(label: "\(number)"), now: lab.now) }
    #expect(lab[.server].channels.count == 28)
  }

  /// A peer that opens channels and never answers a reset keeps no names here.
  @Test func refusedChannelsCostNoMoreThanTheirIDs() {
    let lab = Lab.connected()
    var server = lab[.server]
    var tsn = nextTSN(of: server)
    let open = DCEPMessage.open(
      DataChannelParameters(label: String(repeating: "l", count: 200), protocolName: String(repeating: "p", count: 200))
    ).bytes
    for id: UInt16 in stride(from: 0, to: 1024, by: 2) {
      let chunk = DataChunk(
        flags: [.beginning, .end], tsn: tsn, streamID: id, streamSequenceNumber: 0,
        payloadProtocolID: PayloadProtocolID.dcep, payload: open[...])
      tsn &+= 1
      server.handle(packet: packet(for: server) { chunk.write(to: &$0) }, now: lab.now)
      while server.poll() != nil {}
    }
    let names = server.channels.values.reduce(0) { $0 + $1.parameters.label.utf8.count }
    #expect(names == 8 * 200)
    #expect(server.channels.values.count { $0.state == .open } == 8)
  }

  @Test func channelsThatNobodyExpectsAreClosed() throws {
    var configuration = SCTPConfiguration()
    configuration.expectedChannels = [DataChannelName(label: "control", protocolName: "cradle.control.v1")]
    var lab = Lab.connected(serverConfiguration: configuration)
    let named = DataChannelParameters(label: "control", protocolName: "cradle.control.v1", isOrdered: false)
    let control = try lab.openChannel(named)
    #expect(lab.isOpen(control, at: .server))
    for parameters in [
      DataChannelParameters(label: "control"),
      DataChannelParameters(label: "Control", protocolName: named.protocolName),
      DataChannelParameters(label: ""),
    ] {
      let id = try lab[.client].open(parameters, now: lab.now)
      try lab[.client].send(.text("x"), on: id, now: lab.now)
      lab.run(for: .seconds(2))
      #expect(lab.isClosed(id, at: .client) && lab[.server].channels[id] == nil)
      #expect(lab.messages(at: .server, on: id).isEmpty)
      lab.forgetOutputs()
    }
    // The other direction is not asked for.
    let ours = try lab[.server].open(DataChannelParameters(label: "ours"), now: lab.now)
    lab.run(for: .seconds(2))
    #expect(lab.isOpen(ours, at: .client) && lab.isOpen(control, at: .server))
  }

  @Test func forwardTSNRemembersNoStreamsBeyondTheLimit() {
    let lab = Lab.connected()
    var server = lab[.server]
    for base in stride(from: 0, to: 65_536, by: 4096) {
      let skips = (base..<base + 4096).map {
        ForwardTSNChunk.Skip(streamID: UInt16($0), streamSequenceNumber: 7)
      }
      let chunk = ForwardTSNChunk(newCumulativeTSN: nextTSN(of: server), skips: skips)
      server.handle(packet: packet(for: server) { chunk.write(to: &$0) }, now: lab.now)
      while server.poll() != nil {}
    }
    #expect(server.association.receiver.reassembly.streamCount == 1024)
    #expect(server.isConnected)
  }

  @Test func aResetOfStreamsThatAreNotThereChangesNothing() throws {
    var lab = Lab.connected()
    let id = try lab.openChannel()
    var server = lab[.server]
    var sequence = lab[.client].association.localInitialTSN
    for base in stride(from: 1000, to: 65_000, by: 8000) {
      var value = ByteWriter()
      value.writeReset(
        ReconfigurationParameter.OutgoingReset(
          sequence: sequence, responseSequence: 0, lastTSN: nextTSN(of: server) &- 1,
          streamIDs: (base..<base + 8000).map { UInt16($0) }))
      let bytes = packet(for: server) {
        $0.append(RawChunk(type: ChunkType.reconfiguration, flags: 0, value: value.bytes[...]))
      }
      sequence &+= 1
      server.handle(packet: bytes, now: lab.now)
      while server.poll() != nil {}
    }
    #expect(server.channels.keys.sorted() == [id])
    #expect(server.association.receiver.reassembly.streamCount <= 1)
    #expect(server.association.reset.wanted.isEmpty)
  }

  /// One chunk may skip on the same stream over and over.
  @Test func skippedStreamsDeliverWhatWaitedInOrder() {
    var reassembly = Reassembly(maximumMessageSize: 1000, maximumStreams: 2)
    func insert(_ number: UInt16) {
      let chunk = DataChunk(
        flags: [.beginning, .end], tsn: UInt32(number), streamID: 1, streamSequenceNumber: number,
        payloadProtocolID: 53, payload: [UInt8(truncatingIfNeeded: number)])
      _ = reassembly.insert(chunk, tsn: Int64(number), cumulative: 0)
    }
    for number: UInt16 in [9, 1, 3, 4, 7, 30] { insert(number) }
    #expect(reassembly.takeReady().isEmpty)
    // Few numbers to pass, and then many.
    reassembly.forward(to: 2, skips: [.init(streamID: 1, streamSequenceNumber: 0)])
    #expect(reassembly.takeReady().map(\.payload) == [[1]])
    reassembly.forward(to: 8, skips: [2, 2, 1, 8, 8].map { .init(streamID: 1, streamSequenceNumber: $0) })
    #expect(reassembly.takeReady().map(\.payload) == [[3], [4], [7], [9]])
    reassembly.forward(to: 40, skips: [.init(streamID: 1, streamSequenceNumber: 20_000)])
    #expect(reassembly.takeReady().map(\.payload) == [[30]])
    #expect(reassembly.bytesHeld == 0)
  }
}
