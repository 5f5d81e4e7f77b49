import SCTP
import TestSupport
import Wire

/// SCTP packets into an association that is up, one that waits and one that is fresh. Ports, tag and checksum are
/// put right, so that the input is read at all; an INIT keeps its zero tag.
enum SCTPFuzz: FuzzBody {
  static let name = "sctp"

  static let pair = SCTPFuzzPair()
  static let seeds =
    pair.packets
    + [
      "sctp-init-firefox.bin", "sctp-init-gstreamer.bin", "sctp-init-ack-chromium.bin", "sctp-dcep-open-chromium.bin",
      "sctp-forward-tsn-chromium.bin", "sctp-re-config-chromium.bin", "sctp-sack-with-gaps-aiortc.bin",
    ].map { Fixture.bytes($0) }

  static func run(_ input: [UInt8]) {
    guard input.count >= 12 else { return }
    let isInit = input.count > 12 && input[12] == 1
    let established = pair.addressed(input, tag: isInit ? 0 : pair.serverTag)
    exercise(pair.server, with: established)
    exercise(pair.freshServer, with: established)
    exercise(pair.waitingServer, with: established)
  }

  private static func exercise(_ transport: DataChannelTransport, with packet: [UInt8]) {
    var transport = transport
    var now = pair.now
    // Twice: the second time meets the state that the first one left.
    for _ in 0..<2 {
      transport.handle(packet: packet, now: now)
      drain(&transport)
      for _ in 0..<3 {
        guard let deadline = transport.nextDeadline else { break }
        now = max(now, deadline)
        transport.handleTimeout(now: now)
        drain(&transport)
      }
    }
    transport.close(1, now: now)
    _ = try? transport.open(DataChannelParameters(label: "after"), now: now)
    drain(&transport)
    _ = transport.statistics
  }

  private static func drain(_ transport: inout DataChannelTransport) {
    var outputs = 0
    while transport.poll() != nil {
      outputs += 1
      precondition(outputs < 5000, "one packet must not cause outputs without end")
    }
  }
}

/// A server and a client that met in memory, kept at three stages of the server.
struct SCTPFuzzPair {
  var freshServer: DataChannelTransport
  var waitingServer: DataChannelTransport
  var server: DataChannelTransport
  var serverTag: UInt32
  /// The TSN that the server waits for.
  var nextTSN: UInt32 = 0
  var packets: [[UInt8]] = []
  var now = Instant.zero

  init() {
    func make(client: Bool) -> DataChannelTransport {
      DataChannelTransport(
        configuration: SCTPConfiguration(), isDTLSClient: client, hashes: TestHashes(),
        random: SeededGenerator(seed: client ? 1 : 2))
    }
    freshServer = make(client: false)
    server = freshServer
    server.connect(now: now)
    waitingServer = server
    // The tag is the first field of the INIT chunk.
    serverTag = 0
    if case .transmit(let initiation) = waitingServer.poll() { serverTag = Self.field(initiation, at: 16) }
    var client = make(client: true)
    client.connect(now: now)
    func pump(_ keep: (inout SCTPFuzzPair, [UInt8]) -> Void) {
      for _ in 0..<40 {
        while case let output? = client.poll() {
          guard case .transmit(let packet) = output else { continue }
          keep(&self, packet)
          server.handle(packet: packet, now: now)
        }
        while case let output? = server.poll() {
          if case .transmit(let packet) = output { client.handle(packet: packet, now: now) }
        }
        now += .milliseconds(20)
        client.handleTimeout(now: now)
        server.handleTimeout(now: now)
      }
    }
    let keep: (inout SCTPFuzzPair, [UInt8]) -> Void = { pair, packet in
      pair.packets.append(packet)
      // INIT and INIT ACK carry the initial TSN behind tag, window and stream counts.
      if packet.count >= 32, packet[12] == 1 || packet[12] == 2 { pair.nextTSN = Self.field(packet, at: 28) }
    }
    pump(keep)
    _ = try? server.open(DataChannelParameters(label: "ours"), now: now)
    pump(keep)
    // What follows is kept as seeds, while the server stays as it is, waiting for just these packets.
    let ready = server
    let readyAt = now
    for (index, parameters) in [
      DataChannelParameters(label: "control", protocolName: "cradle.control.v1"),
      DataChannelParameters(label: "p", isOrdered: false, reliability: .maxRetransmits(0)),
    ].enumerated() {
      guard let id = try? client.open(parameters, now: now) else { continue }
      try? client.send(.text("hello"), on: id, now: now)
      try? client.send(.binary([UInt8](repeating: UInt8(index), count: 4000)), on: id, now: now)
      pump(keep)
    }
    client.close(0, now: now)
    pump(keep)
    now += .seconds(40)
    client.handleTimeout(now: now)
    pump(keep)
    var aborting = client
    aborting.abort(now: now)
    if case .transmit(let packet) = aborting.poll() { packets.append(packet) }
    client.shutdown(now: now)
    pump(keep)
    packets += [
      [0x13, 0x88, 0x13, 0x88, 0, 0, 0, 0, 0, 0, 0, 0, 192, 0, 0, 12, 0, 0, 0, 9, 0, 2, 0, 5],
      [0x13, 0x88, 0x13, 0x88, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 20, 0, 0, 0, 9, 0, 2, 0, 5, 0, 1, 0, 0, 0, 2, 0, 3],
    ]
    server = ready
    now = readyAt
  }

  func addressed(_ input: [UInt8], tag: UInt32) -> [UInt8] {
    var writer = ByteWriter(reservingCapacity: input.count)
    writer.write(UInt16(5000))
    writer.write(UInt16(5000))
    writer.write(tag)
    writer.write(UInt32(0))
    writer.write(contentsOf: input.dropFirst(12))
    writer.patch(CRC32C.checksum(writer.bytes).byteSwapped, at: 8)
    return writer.bytes
  }

  private static func field(_ bytes: [UInt8], at offset: Int) -> UInt32 {
    bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
