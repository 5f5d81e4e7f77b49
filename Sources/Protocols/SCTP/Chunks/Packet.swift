import Wire

/// A raw chunk: type, flags and value without padding. RFC 9260 section 3.2.
struct RawChunk: Hashable, Sendable {
  var type: UInt8
  var flags: UInt8
  var value: ArraySlice<UInt8>
}

/// A packet with a valid checksum. RFC 9260 section 3.
struct Packet: Sendable {
  static let headerSize = 12

  var sourcePort: UInt16
  var destinationPort: UInt16
  var verificationTag: UInt32
  var chunks: [RawChunk] = []

  init(_ bytes: [UInt8]) throws(WireError) {
    var reader = ByteReader(bytes)
    sourcePort = try reader.readUInt16()
    destinationPort = try reader.readUInt16()
    verificationTag = try reader.readUInt32()
    let checksum = try reader.readUInt32()
    guard Self.checksum(of: bytes) == checksum else { throw .malformed("SCTP checksum") }
    while !reader.isAtEnd {
      let type = try reader.readUInt8()
      let flags = try reader.readUInt8()
      let length = Int(try reader.readUInt16())
      guard length >= 4 else { throw .malformed("SCTP chunk length") }
      chunks.append(RawChunk(type: type, flags: flags, value: try reader.readBytes(length - 4)))
      // Padding is not counted in the length, and careless peers omit it after the last chunk.
      try reader.skip(min((4 - length % 4) % 4, reader.remaining))
    }
    guard !chunks.isEmpty else { throw .malformed("SCTP packet without chunks") }
  }

  /// The CRC-32C over the packet with a zero checksum field, as the big-endian field reads: RFC 9260 appendix A sends
  /// the reflected value with its lowest byte first.
  static func checksum(of bytes: [UInt8]) -> UInt32 {
    var copy = bytes
    for index in 8..<12 { copy[index] = 0 }
    return CRC32C.checksum(copy).byteSwapped
  }
}

/// Builds a packet chunk by chunk.
struct PacketBuilder {
  private var writer: ByteWriter
  private let maximumSize: Int

  init(sourcePort: UInt16, destinationPort: UInt16, verificationTag: UInt32, maximumSize: Int) {
    self.maximumSize = maximumSize
    writer = ByteWriter(reservingCapacity: maximumSize)
    writer.write(sourcePort)
    writer.write(destinationPort)
    writer.write(verificationTag)
    writer.write(UInt32(0))
  }

  var isEmpty: Bool { writer.count == Packet.headerSize }
  /// Bytes left for chunks, including headers and padding.
  var room: Int { maximumSize - writer.count }

  mutating func append(_ chunk: RawChunk) {
    append(type: chunk.type, flags: chunk.flags) { $0.write(contentsOf: chunk.value) }
  }

  mutating func append(type: UInt8, flags: UInt8 = 0, value: (inout ByteWriter) -> Void = { _ in }) {
    let start = writer.count
    writer.write(type)
    writer.write(flags)
    writer.write(UInt16(0))
    value(&writer)
    writer.patch(UInt16(truncatingIfNeeded: writer.count - start), at: start + 2)
    writer.pad(to: 4)
  }

  mutating func finish() -> [UInt8] {
    // The field is still zero here.
    writer.patch(CRC32C.checksum(writer.bytes).byteSwapped, at: 8)
    return writer.bytes
  }
}
