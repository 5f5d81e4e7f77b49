public import Wire

/// RED: an audio packet with copies of earlier ones. RFC 2198 section 3.
public struct RedundantAudio: Hashable, Sendable {
  /// An earlier packet, repeated.
  public struct Block: Hashable, Sendable {
    /// 0...127.
    public var payloadType: UInt8
    /// How far it precedes this packet's timestamp, 0...16383.
    public var timestampOffset: UInt16
    /// At most 1023 bytes.
    public var data: ArraySlice<UInt8>

    public init(payloadType: UInt8, timestampOffset: UInt16, data: ArraySlice<UInt8>) {
      self.payloadType = payloadType
      self.timestampOffset = timestampOffset
      self.data = data
    }

    /// Whether the fields of RFC 2198 section 3 have room for it.
    public var fits: Bool { timestampOffset <= 0x3fff && data.count <= 0x3ff && !data.isEmpty }
  }

  /// Oldest first.
  public var redundant: [Block]
  public var primaryPayloadType: UInt8
  public var primary: ArraySlice<UInt8>

  /// No sender repeats more; a packet with more is rejected.
  static let maximumBlocks = 16

  public init(redundant: [Block], primaryPayloadType: UInt8, primary: ArraySlice<UInt8>) {
    self.redundant = redundant
    self.primaryPayloadType = primaryPayloadType
    self.primary = primary
  }

  public init(parsing payload: ArraySlice<UInt8>) throws(WireError) {
    var reader = ByteReader(payload)
    var heads: [(payloadType: UInt8, offset: UInt16, count: Int)] = []
    while true {
      let first = try reader.readUInt8()
      guard first & 0x80 != 0 else {
        primaryPayloadType = first
        break
      }
      guard heads.count < Self.maximumBlocks else { throw .malformed("RED repeats at most 16 packets") }
      let rest = try reader.readUInt24()
      heads.append((first & 0x7f, UInt16(truncatingIfNeeded: rest >> 10), Int(rest & 0x3ff)))
    }
    redundant = []
    for head in heads {
      let data = try reader.readBytes(head.count)
      redundant.append(Block(payloadType: head.payloadType, timestampOffset: head.offset, data: data))
    }
    primary = reader.readRest()
  }

  /// The payload. Blocks too old or too long for their fields are left out.
  public func write() -> [UInt8] {
    let blocks = redundant.filter(\.fits).suffix(Self.maximumBlocks)
    let size = blocks.reduce(primary.count + 1) { $0 + $1.data.count + 4 }
    var writer = ByteWriter(reservingCapacity: size)
    for block in blocks {
      writer.write(0x80 | block.payloadType & 0x7f)
      writer.write24(UInt32(block.timestampOffset) << 10 | UInt32(block.data.count))
    }
    writer.write(primaryPayloadType & 0x7f)
    for block in blocks { writer.write(contentsOf: block.data) }
    writer.write(contentsOf: primary)
    return writer.bytes
  }
}
