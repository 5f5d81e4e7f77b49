public import Wire

/// What the first bytes of a VP8 frame say. RFC 6386 section 9.1.
public struct VP8FrameInfo: Hashable, Sendable {
  public struct Size: Hashable, Sendable {
    /// Pixels, 0...16383.
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
      self.width = width
      self.height = height
    }
  }

  /// There for key frames only; other frames keep the size.
  public var keyFrameSize: Size?
  public var isShown: Bool
  /// Bytes of the first partition.
  public var firstPartitionByteCount: Int

  public var isKeyFrame: Bool { keyFrameSize != nil }

  /// From at least 3 bytes of the frame, 10 for a key frame.
  public init(parsing frame: ArraySlice<UInt8>) throws(WireError) {
    var reader = ByteReader(frame)
    let tag = try reader.readUInt24().byteSwapped >> 8
    isShown = tag >> 4 & 1 == 1
    firstPartitionByteCount = Int(tag >> 5)
    guard tag & 1 == 0 else { return }
    guard try reader.readUInt24() == 0x9d012a else { throw .malformed("a VP8 key frame has its start code") }
    // Little-endian; the upper two bits are the scaling.
    let width = try reader.readUInt16().byteSwapped & 0x3fff
    let height = try reader.readUInt16().byteSwapped & 0x3fff
    keyFrameSize = Size(width: Int(width), height: Int(height))
  }

  public init(parsing frame: [UInt8]) throws(WireError) {
    try self.init(parsing: frame[...])
  }
}
