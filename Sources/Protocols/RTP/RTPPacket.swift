public import Wire

/// An RTP packet: header and payload without padding. RFC 3550 section 5.1.
public struct RTPPacket: Hashable, Sendable {
  public var header: RTPHeader
  /// Shares storage with the datagram it was parsed from.
  public var payload: ArraySlice<UInt8>
  /// How many bytes of padding followed the payload, the count byte included; 0 for none.
  public var paddingByteCount: Int

  public init(header: RTPHeader, payload: ArraySlice<UInt8>, paddingByteCount: Int = 0) {
    self.header = header
    self.payload = payload
    self.paddingByteCount = paddingByteCount
  }

  /// Parses a whole decrypted packet. Throws `truncated` or `malformed`.
  public init(parsing bytes: [UInt8]) throws(WireError) {
    var reader = ByteReader(bytes)
    var hasPadding = false
    header = try RTPHeader(from: &reader, hasPadding: &hasPadding)
    payload = reader.readRest()
    paddingByteCount = 0
    guard hasPadding else { return }
    // RFC 3550 section 5.1: the last byte counts the padding, itself included.
    guard let count = payload.last, count > 0, Int(count) <= payload.count else {
      throw .malformed("RTP padding fits the payload and is not empty")
    }
    paddingByteCount = Int(count)
    payload = payload.dropLast(Int(count))
  }

  /// The header extensions listed in `ids`.
  public func extensions(_ ids: RTPExtensionIDs) -> RTPHeaderExtensions {
    guard let block = header.extensionBlock else { return RTPHeaderExtensions() }
    return RTPHeaderExtensions(parsing: block, ids: ids)
  }

  /// Serialises the packet, with the extension block unchanged.
  public func write() -> [UInt8] {
    let padding = min(max(0, paddingByteCount), 255)
    var writer = ByteWriter(reservingCapacity: payload.count + padding + 96)
    header.write(to: &writer, hasPadding: padding > 0, hasExtension: header.extensionBlock != nil)
    header.extensionBlock?.write(to: &writer)
    writer.write(contentsOf: payload)
    if padding > 0 {
      writer.write(zeros: padding - 1)
      writer.write(UInt8(padding))
    }
    return writer.bytes
  }

  /// Room for what protection may append: 144 bytes for SRTP (SRTP_MAX_TRAILER_LEN of libsrtp: tag and key identifier),
  /// plus the 4-byte index for SRTCP (RFC 3711 section 3.4).
  public static let protectionRoom = 148
  /// Fixed header, all known header extensions with a 16-byte MID, and the original sequence number of RTX.
  private static let headerRoom = 92

  /// Builds an outgoing packet in one allocation, with `protectionRoom` bytes of capacity behind it.
  ///
  /// `header.extensionBlock` is not used: the block is built from `extensions`. With `originalSequenceNumber`, the
  /// packet is a retransmission (RFC 4588 section 4): these two bytes precede the payload. `paddingByteCount` is at most
  /// 255, the count byte included; 0 for none.
  public static func write(
    header: RTPHeader, extensions: RTPHeaderExtensions, ids: RTPExtensionIDs, originalSequenceNumber: UInt16? = nil,
    payload: [UInt8], paddingByteCount: Int = 0
  ) -> (bytes: [UInt8], payloadOffset: Int) {
    let form = extensions.form(ids: ids)
    let padding = min(max(0, paddingByteCount), 255)
    var writer = ByteWriter(reservingCapacity: headerRoom + payload.count + padding + protectionRoom)
    header.write(to: &writer, hasPadding: padding > 0, hasExtension: form != nil)
    if let form { extensions.write(to: &writer, ids: ids, form: form) }
    if let originalSequenceNumber { writer.write(originalSequenceNumber) }
    let payloadOffset = writer.count
    writer.write(contentsOf: payload)
    if padding > 0 {
      writer.write(zeros: padding - 1)
      writer.write(UInt8(padding))
    }
    return (writer.bytes, payloadOffset)
  }
}
