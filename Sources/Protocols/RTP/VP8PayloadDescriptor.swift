public import Wire

/// The header before the VP8 data in every packet. RFC 7741 section 4.2.
public struct VP8PayloadDescriptor: Hashable, Sendable {
  /// PictureID: 7 or 15 bits, the same throughout a stream.
  public enum PictureID: Hashable, Sendable {
    case short(UInt8)
    case long(UInt16)
  }

  /// TID with its Y bit.
  public struct TemporalLayer: Hashable, Sendable {
    /// 0...3; 0 is the base layer.
    public var index: UInt8
    /// The frame depends on the base layer alone, so a receiver may step up here.
    public var isSync: Bool

    public init(index: UInt8, isSync: Bool) {
      self.index = index & 3
      self.isSync = isSync
    }
  }

  /// N: no other frame depends on this one.
  public var isNonReference: Bool
  /// S: a VP8 partition begins in this packet.
  public var startsPartition: Bool
  /// PID, 0...7. S with PID 0 starts a frame.
  public var partitionIndex: UInt8
  public var pictureID: PictureID?
  /// Counts base-layer frames. Only together with a temporal layer.
  public var tl0PictureIndex: UInt8?
  public var temporalLayer: TemporalLayer?
  /// KEYIDX, 0...31.
  public var keyIndex: UInt8?

  public init(
    isNonReference: Bool = false, startsPartition: Bool = true, partitionIndex: UInt8 = 0, pictureID: PictureID? = nil,
    tl0PictureIndex: UInt8? = nil, temporalLayer: TemporalLayer? = nil, keyIndex: UInt8? = nil
  ) {
    self.isNonReference = isNonReference
    self.startsPartition = startsPartition
    self.partitionIndex = partitionIndex & 7
    self.pictureID = pictureID
    self.tl0PictureIndex = tl0PictureIndex
    self.temporalLayer = temporalLayer
    self.keyIndex = keyIndex
  }

  /// Whether a frame begins in this packet.
  public var startsFrame: Bool { startsPartition && partitionIndex == 0 }

  /// Reads the descriptor; `payload` is left at the VP8 data.
  public init(parsing payload: inout ArraySlice<UInt8>) throws(WireError) {
    var reader = ByteReader(payload)
    let first = try reader.readUInt8()
    isNonReference = first & 0x20 != 0
    startsPartition = first & 0x10 != 0
    partitionIndex = first & 0x07
    let flags = first & 0x80 != 0 ? try reader.readUInt8() : 0
    if flags & 0x80 != 0 {
      let high = try reader.readUInt8()
      pictureID =
        high & 0x80 == 0 ? .short(high) : .long(UInt16(high & 0x7f) << 8 | UInt16(try reader.readUInt8()))
    }
    if flags & 0x40 != 0 { tl0PictureIndex = try reader.readUInt8() }
    if flags & 0x30 != 0 {
      // TID, Y and KEYIDX share a byte that is present if T or K is set.
      let layer = try reader.readUInt8()
      if flags & 0x20 != 0 { temporalLayer = TemporalLayer(index: layer >> 6, isSync: layer & 0x20 != 0) }
      if flags & 0x10 != 0 { keyIndex = layer & 0x1f }
    }
    payload = reader.readRest()
  }

  public func write(to writer: inout ByteWriter) {
    var flags: UInt8 = 0
    if pictureID != nil { flags |= 0x80 }
    // RFC 7741 section 4.2: L without T is not allowed.
    let tl0 = temporalLayer == nil ? nil : tl0PictureIndex
    if tl0 != nil { flags |= 0x40 }
    if temporalLayer != nil { flags |= 0x20 }
    if keyIndex != nil { flags |= 0x10 }
    writer.write(
      (flags != 0 ? 0x80 : 0) | (isNonReference ? 0x20 : 0) | (startsPartition ? 0x10 : 0) | partitionIndex & 7)
    guard flags != 0 else { return }
    writer.write(flags)
    switch pictureID {
    case .short(let value): writer.write(value & 0x7f)
    case .long(let value): writer.write(value | 0x8000)
    case nil: break
    }
    if let tl0 { writer.write(tl0) }
    if flags & 0x30 != 0 {
      let layer = temporalLayer.map { $0.index << 6 | ($0.isSync ? 0x20 : 0) } ?? 0
      writer.write(layer | (keyIndex ?? 0) & 0x1f)
    }
  }
}
