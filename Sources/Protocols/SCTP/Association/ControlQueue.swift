import Wire

/// What leaves beside data: packets with their own tags, and chunks that wait for the next packet.
struct ControlQueue: Sendable {
  private let configuration: SCTPConfiguration
  private var packets = FIFO<[UInt8]>()
  private var chunks = FIFO<RawChunk>()
  /// ERROR chunks that we may still send: enough to tell a peer which extension we lack; after that, garbage is
  /// ignored.
  private var errorsLeft = 32

  static let maximumPackets = 16
  private static let maximumChunks = 32

  init(configuration: SCTPConfiguration) {
    self.configuration = configuration
  }

  var hasChunks: Bool { !chunks.isEmpty }

  func packet(tag: UInt32) -> PacketBuilder {
    PacketBuilder(
      sourcePort: configuration.localPort, destinationPort: configuration.remotePort, verificationTag: tag,
      maximumSize: configuration.packetSize)
  }

  mutating func appendPacket(tag: UInt32, _ body: (inout PacketBuilder) -> Void) {
    guard packets.count < Self.maximumPackets else { return }
    var packet = packet(tag: tag)
    body(&packet)
    packets.append(packet.finish())
  }

  mutating func append(type: UInt8, _ body: (inout ByteWriter) -> Void = { _ in }) {
    guard chunks.count < Self.maximumChunks else { return }
    var writer = ByteWriter()
    body(&writer)
    chunks.append(RawChunk(type: type, flags: 0, value: writer.bytes[...]))
  }

  mutating func appendError(_ code: UInt16, _ body: (inout ByteWriter) -> Void) {
    guard errorsLeft > 0 else { return }
    errorsLeft -= 1
    var information = ByteWriter()
    body(&information)
    append(type: ChunkType.error) { $0.writeParameter(code, information.bytes) }
  }

  mutating func nextPacket() -> [UInt8]? { packets.popFirst() }

  mutating func moveChunks(to packet: inout PacketBuilder) {
    while let chunk = chunks.first, 4 + (chunk.value.count + 3) & ~3 <= packet.room {
      packet.append(chunk)
      _ = chunks.popFirst()
    }
  }

  mutating func removeChunks() { chunks.removeAll() }
}
