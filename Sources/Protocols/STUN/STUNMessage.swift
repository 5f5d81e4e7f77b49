public import Wire

/// A STUN message: header and attributes. RFC 8489 section 5.
///
/// A decoded message keeps its bytes, because integrity covers them as received.
public struct STUNMessage: Sendable {
  public var messageClass: STUNClass
  public var method: STUNMethod
  public var transactionID: STUNTransactionID
  /// In wire order. Decoding drops those after the integrity attributes: nothing protects them (RFC 8489 section 14.5).
  public var attributes: [STUNAttribute]
  private var received: Received?

  /// What is needed to verify a received message.
  private struct Received: Sendable {
    var bytes: [UInt8]
    /// The offset of the attribute's header.
    var integrity: Int?
    var integritySHA256: Range<Int>?
    var fingerprint: Int?
  }

  public init(
    _ messageClass: STUNClass, _ method: STUNMethod = .binding, transactionID: STUNTransactionID,
    attributes: [STUNAttribute] = []
  ) {
    self.messageClass = messageClass
    self.method = method
    self.transactionID = transactionID
    self.attributes = attributes
  }

  /// Whether the datagram can be STUN: two zero bits, the magic cookie, a length that is a multiple of four and fits.
  /// RFC 8489 section 6.3, RFC 7983 section 7. Cheap; does not look at the attributes.
  public static func isSTUN(_ datagram: some RandomAccessCollection<UInt8>) -> Bool {
    guard datagram.count >= STUNConstants.headerLength else { return false }
    let at = { (offset: Int) in UInt32(datagram[datagram.index(datagram.startIndex, offsetBy: offset)]) }
    guard at(0) < 0x40, at(4) == 0x21, at(5) == 0x12, at(6) == 0xa4, at(7) == 0x42, at(3) % 4 == 0 else { return false }
    return Int(at(2) << 8 | at(3)) + STUNConstants.headerLength <= datagram.count
  }

  /// Decodes one message that fills the datagram.
  ///
  /// - Throws: `WireError` when the bytes are not a STUN message, a known attribute is malformed, or there are more
  ///   than `STUNConstants.maximumAttributes`.
  public init(decoding datagram: [UInt8]) throws(WireError) {
    var reader = ByteReader(datagram)
    guard let (messageClass, method) = STUNMessageType.decode(try reader.readUInt16()) else {
      throw .malformed("the first two bits of STUN are zero")
    }
    let length = Int(try reader.readUInt16())
    guard try reader.readUInt32() == STUNConstants.magicCookie else { throw .malformed("no magic cookie") }
    guard let transactionID = STUNTransactionID(bytes: try reader.readBytes(12)) else { throw .truncated }
    guard length % 4 == 0, length == reader.remaining else {
      throw .malformed("the length is a multiple of four and that of the datagram")
    }
    self.init(messageClass, method, transactionID: transactionID)
    var received = Received(bytes: datagram)
    var count = 0
    while !reader.isAtEnd {
      count += 1
      guard count <= STUNConstants.maximumAttributes else { throw .malformed("too many attributes") }
      let start = reader.offset
      let type = STUNAttributeType(rawValue: try reader.readUInt16())
      let valueLength = Int(try reader.readUInt16())
      let value = try reader.readBytes(valueLength)
      try reader.skip((4 - valueLength % 4) % 4)
      guard received.fingerprint == nil else { throw .malformed("FINGERPRINT is the last attribute") }
      switch type {
      case .messageIntegrity:
        guard valueLength == 20 else { throw .malformed("MESSAGE-INTEGRITY is 20 bytes") }
        if received.integrity == nil, received.integritySHA256 == nil { received.integrity = start }
      case .messageIntegritySHA256:
        // RFC 8489 section 14.6: may be truncated to a multiple of four, at least 16.
        guard (16...32).contains(valueLength), valueLength % 4 == 0 else {
          throw .malformed("MESSAGE-INTEGRITY-SHA256 is 16...32 bytes")
        }
        if received.integritySHA256 == nil { received.integritySHA256 = start..<start + 4 + valueLength }
      case .fingerprint:
        guard valueLength == 4 else { throw .malformed("FINGERPRINT is 4 bytes") }
        received.fingerprint = start
      default:
        if received.integrity == nil, received.integritySHA256 == nil {
          attributes.append(try STUNAttribute.decode(type, value, transactionID: transactionID))
        }
      }
    }
    self.received = received
  }
}

extension STUNMessage {
  /// The integrity attribute that a message carries or is encoded with.
  public enum Integrity: Sendable {
    /// HMAC-SHA1, RFC 8489 section 14.5: what ICE uses.
    case messageIntegrity
    /// Full-length HMAC-SHA256, RFC 8489 section 14.6.
    case messageIntegritySHA256
  }

  /// Encodes the message, ending with an integrity attribute (if there is a `key`) and FINGERPRINT.
  public func encode(
    key: [UInt8]? = nil, integrity: Integrity = .messageIntegrity, fingerprint: Bool = true, hashes: any Hashes
  ) -> [UInt8] {
    var writer = ByteWriter(reservingCapacity: 160)
    writer.write(STUNMessageType.encode(messageClass, method))
    writer.write(UInt16(0))
    writer.write(STUNConstants.magicCookie)
    writer.write(contentsOf: transactionID.bytes)
    for attribute in attributes {
      Self.write(attribute.type, attribute.encodedValue(transactionID: transactionID), to: &writer)
    }
    if let key {
      // The length that goes into the HMAC already counts the attribute itself.
      switch integrity {
      case .messageIntegrity:
        Self.patchLength(of: &writer, adding: 24)
        Self.write(.messageIntegrity, hashes.hmacSHA1(key: key, message: writer.bytes), to: &writer)
      case .messageIntegritySHA256:
        Self.patchLength(of: &writer, adding: 36)
        Self.write(.messageIntegritySHA256, hashes.hmacSHA256(key: key, message: writer.bytes), to: &writer)
      }
    }
    if fingerprint {
      Self.patchLength(of: &writer, adding: 8)
      let checksum = CRC32.checksum(writer.bytes) ^ STUNConstants.fingerprintMask
      writer.write(STUNAttributeType.fingerprint.rawValue)
      writer.write(UInt16(4))
      writer.write(checksum)
    } else {
      Self.patchLength(of: &writer, adding: 0)
    }
    return writer.bytes
  }

  private static func write(_ type: STUNAttributeType, _ value: [UInt8], to writer: inout ByteWriter) {
    let value = value.prefix(0xfffc)
    writer.write(type.rawValue)
    writer.write(UInt16(value.count))
    writer.write(contentsOf: value)
    writer.pad(to: 4)
  }

  private static func patchLength(of writer: inout ByteWriter, adding count: Int) {
    writer.patch(UInt16(truncatingIfNeeded: writer.count - STUNConstants.headerLength + count), at: 2)
  }

  /// The integrity attribute of a decoded message; the stronger one if it has both.
  public var integrity: Integrity? {
    if received?.integritySHA256 != nil { return .messageIntegritySHA256 }
    return received?.integrity != nil ? .messageIntegrity : nil
  }

  /// Whether the message has an integrity attribute that matches `key`. False for a message that was not decoded.
  ///
  /// With both attributes the SHA-256 one decides (RFC 8489 section 9.1.3).
  public func verifyIntegrity(key: [UInt8], hashes: any Hashes) -> Bool {
    guard let received else { return false }
    if let range = received.integritySHA256 {
      let covered = Self.covered(received.bytes, upTo: range.lowerBound, attributeEnd: range.upperBound)
      let expected = hashes.hmacSHA256(key: key, message: covered)
      let value = received.bytes[range].dropFirst(4)
      return constantTimeEqual(value, expected.prefix(value.count))
    }
    guard let start = received.integrity else { return false }
    let covered = Self.covered(received.bytes, upTo: start, attributeEnd: start + 24)
    return constantTimeEqual(received.bytes[start + 4..<start + 24], hashes.hmacSHA1(key: key, message: covered))
  }

  /// Whether FINGERPRINT is correct; nil if absent.
  public var hasValidFingerprint: Bool? {
    guard let received, let start = received.fingerprint else { return nil }
    let covered = Self.covered(received.bytes, upTo: start, attributeEnd: start + 8)
    let checksum = CRC32.checksum(covered) ^ STUNConstants.fingerprintMask
    return received.bytes[start + 4..<start + 8].reduce(0) { $0 << 8 | UInt32($1) } == checksum
  }

  /// The bytes that an integrity attribute covers: all before it, with a header length that includes the attribute.
  private static func covered(_ bytes: [UInt8], upTo start: Int, attributeEnd: Int) -> [UInt8] {
    var covered = Array(bytes[..<start])
    let length = attributeEnd - STUNConstants.headerLength
    covered[2] = UInt8(truncatingIfNeeded: length >> 8)
    covered[3] = UInt8(truncatingIfNeeded: length)
    return covered
  }
}
