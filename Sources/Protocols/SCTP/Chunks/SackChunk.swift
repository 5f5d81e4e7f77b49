import Wire

/// SACK. RFC 9260 section 3.3.4.
struct SackChunk: Hashable, Sendable {
  /// Received TSNs as offsets from the cumulative one, both ends included.
  struct GapBlock: Hashable, Sendable {
    var start: UInt16
    var end: UInt16
  }

  /// Chunk header and the fields before the blocks.
  static let headerSize = 16

  var cumulativeTSN: UInt32
  var advertisedWindow: UInt32
  var gaps: [GapBlock]
  var duplicates: [UInt32]

  var size: Int { Self.headerSize + 4 * (gaps.count + duplicates.count) }

  func write(to packet: inout PacketBuilder) {
    packet.append(type: ChunkType.sack) { writer in
      writer.write(cumulativeTSN)
      writer.write(advertisedWindow)
      writer.write(UInt16(truncatingIfNeeded: gaps.count))
      writer.write(UInt16(truncatingIfNeeded: duplicates.count))
      for gap in gaps {
        writer.write(gap.start)
        writer.write(gap.end)
      }
      for duplicate in duplicates { writer.write(duplicate) }
    }
  }
}

extension SackChunk {
  init(_ value: ArraySlice<UInt8>) throws(WireError) {
    var reader = ByteReader(value)
    cumulativeTSN = try reader.readUInt32()
    advertisedWindow = try reader.readUInt32()
    let gapCount = Int(try reader.readUInt16())
    let duplicateCount = Int(try reader.readUInt16())
    guard reader.remaining >= 4 * (gapCount + duplicateCount) else { throw .truncated }
    gaps = []
    gaps.reserveCapacity(gapCount)
    for _ in 0..<gapCount {
      gaps.append(GapBlock(start: try reader.readUInt16(), end: try reader.readUInt16()))
    }
    // Duplicate TSNs change nothing for a sender.
    duplicates = []
  }
}
