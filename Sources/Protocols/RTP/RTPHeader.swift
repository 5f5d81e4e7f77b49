import Wire

/// The fixed header of an RTP packet with its CSRC list and raw header extension. RFC 3550 section 5.1.
public struct RTPHeader: Hashable, Sendable {
  /// CC is a 4-bit field.
  public static let maximumContributingSources = 15

  public var marker: Bool
  /// 0...127.
  public var payloadType: UInt8
  public var sequenceNumber: UInt16
  /// In units of the payload format's clock rate.
  public var timestamp: UInt32
  public var ssrc: UInt32
  /// At most 15.
  public var contributingSources: [UInt32]
  /// The header extension as received, if there is one.
  public var extensionBlock: RTPHeaderExtensionBlock?

  public init(
    marker: Bool = false, payloadType: UInt8, sequenceNumber: UInt16, timestamp: UInt32, ssrc: UInt32,
    contributingSources: [UInt32] = [], extensionBlock: RTPHeaderExtensionBlock? = nil
  ) {
    self.marker = marker
    self.payloadType = payloadType
    self.sequenceNumber = sequenceNumber
    self.timestamp = timestamp
    self.ssrc = ssrc
    self.contributingSources = contributingSources
    self.extensionBlock = extensionBlock
  }

  /// Reads the header and leaves `reader` at the payload. `hasPadding` is set to the P bit.
  init(from reader: inout ByteReader, hasPadding: inout Bool) throws(WireError) {
    let first = try reader.readUInt8()
    guard first >> 6 == 2 else { throw .malformed("RTP version is 2") }
    hasPadding = first & 0x20 != 0
    let second = try reader.readUInt8()
    marker = second & 0x80 != 0
    payloadType = second & 0x7f
    sequenceNumber = try reader.readUInt16()
    timestamp = try reader.readUInt32()
    ssrc = try reader.readUInt32()
    contributingSources = []
    for _ in 0..<first & 0x0f { contributingSources.append(try reader.readUInt32()) }
    extensionBlock = nil
    guard first & 0x10 != 0 else { return }
    // RFC 3550 section 5.3.1: the length counts 32-bit words after these four bytes.
    let profile = try reader.readUInt16()
    let words = try reader.readUInt16()
    extensionBlock = RTPHeaderExtensionBlock(profile: profile, data: try reader.readBytes(Int(words) * 4))
  }

  /// Appends everything up to the extension, whose presence the caller passes in.
  func write(to writer: inout ByteWriter, hasPadding: Bool, hasExtension: Bool) {
    let sources = contributingSources.prefix(Self.maximumContributingSources)
    writer.write(0x80 | (hasPadding ? 0x20 : 0) | (hasExtension ? 0x10 : 0) | UInt8(sources.count))
    writer.write((marker ? 0x80 : 0) | payloadType & 0x7f)
    writer.write(sequenceNumber)
    writer.write(timestamp)
    writer.write(ssrc)
    for source in sources { writer.write(source) }
  }
}
