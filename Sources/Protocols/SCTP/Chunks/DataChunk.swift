import Wire

/// DATA: one message or a fragment of one. RFC 9260 section 3.3.1.
struct DataChunk: Hashable, Sendable {
  /// Chunk header and the fields before the payload.
  static let headerSize = 16

  struct Flags: OptionSet, Hashable, Sendable {
    var rawValue: UInt8
    static let end = Flags(rawValue: 1)
    static let beginning = Flags(rawValue: 2)
    static let unordered = Flags(rawValue: 4)
    /// The sender wants its SACK at once (RFC 9260 section 3.3.1, the I bit).
    static let immediate = Flags(rawValue: 8)
  }

  var flags: Flags
  var tsn: UInt32
  var streamID: UInt16
  var streamSequenceNumber: UInt16
  var payloadProtocolID: UInt32
  var payload: ArraySlice<UInt8>

  /// Bytes on the wire, padded.
  var size: Int { Self.size(payload: payload.count) }

  static func size(payload: Int) -> Int {
    headerSize + (payload + 3) & ~3
  }

  func write(to packet: inout PacketBuilder) {
    packet.append(type: ChunkType.data, flags: flags.rawValue) { writer in
      writer.write(tsn)
      writer.write(streamID)
      writer.write(streamSequenceNumber)
      writer.write(payloadProtocolID)
      writer.write(contentsOf: payload)
    }
  }
}

extension DataChunk {
  init(_ raw: RawChunk) throws(WireError) {
    var reader = ByteReader(raw.value)
    flags = Flags(rawValue: raw.flags)
    tsn = try reader.readUInt32()
    streamID = try reader.readUInt16()
    streamSequenceNumber = try reader.readUInt16()
    payloadProtocolID = try reader.readUInt32()
    payload = reader.readRest()
  }
}
