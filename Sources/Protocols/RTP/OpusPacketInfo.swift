public import Wire

/// The information in the table-of-contents byte of an Opus packet. The packet itself is the RTP payload (RFC 7587
/// section 4.2). RFC 6716 section 3.1.
public struct OpusPacketInfo: Hashable, Sendable {
  /// Frame duration in microseconds: 2500...60000.
  public var frameMicroseconds: Int
  /// 1...48.
  public var frameCount: Int
  public var isStereo: Bool

  /// The RTP clock rate of Opus at every sampling rate. RFC 7587 section 4.1.
  public static let clockRate: UInt32 = 48_000

  /// How much the packet advances the RTP timestamp: at most 5760 (120 ms).
  public var samplesAt48kHz: Int { frameMicroseconds * frameCount * 48 / 1000 }

  /// Throws for an empty packet and for one above 120 ms.
  public init(parsing packet: ArraySlice<UInt8>) throws(WireError) {
    var reader = ByteReader(packet)
    let toc = try reader.readUInt8()
    let configuration = Int(toc >> 3)
    // RFC 6716 table 2: SILK-only, hybrid, then CELT-only.
    frameMicroseconds =
      switch configuration {
      case 0..<12: [10_000, 20_000, 40_000, 60_000][configuration % 4]
      case 12..<16: [10_000, 20_000][configuration % 2]
      default: [2500, 5000, 10_000, 20_000][configuration % 4]
      }
    isStereo = toc & 0x04 != 0
    switch toc & 3 {
    case 0: frameCount = 1
    case 1, 2: frameCount = 2
    default: frameCount = Int(try reader.readUInt8() & 0x3f)
    }
    // RFC 6716 section 3.4, requirement 5.
    guard frameCount > 0, frameMicroseconds * frameCount <= 120_000 else {
      throw .malformed("an Opus packet holds up to 120 ms, and not nothing")
    }
  }

  public init(parsing packet: [UInt8]) throws(WireError) {
    try self.init(parsing: packet[...])
  }
}
