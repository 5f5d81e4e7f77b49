import Wire

/// FORWARD TSN: the sender will never send anything up to this TSN again. RFC 3758 section 3.2.
struct ForwardTSNChunk: Hashable, Sendable {
  /// The last ordered message that was abandoned on a stream.
  struct Skip: Hashable, Sendable {
    var streamID: UInt16
    var streamSequenceNumber: UInt16
  }

  static let headerSize = 8

  var newCumulativeTSN: UInt32
  var skips: [Skip]

  var size: Int { Self.headerSize + 4 * skips.count }

  func write(to packet: inout PacketBuilder) {
    packet.append(type: ChunkType.forwardTSN) { writer in
      writer.write(newCumulativeTSN)
      for skip in skips {
        writer.write(skip.streamID)
        writer.write(skip.streamSequenceNumber)
      }
    }
  }
}

extension ForwardTSNChunk {
  init(_ value: ArraySlice<UInt8>) throws(WireError) {
    var reader = ByteReader(value)
    newCumulativeTSN = try reader.readUInt32()
    skips = []
    while !reader.isAtEnd {
      skips.append(Skip(streamID: try reader.readUInt16(), streamSequenceNumber: try reader.readUInt16()))
    }
  }
}
