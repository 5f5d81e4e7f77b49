public import Wire

/// The type of an attribute. RFC 8489 section 18.3, RFC 8445 section 20.2, RFC 8656 section 18.
public struct STUNAttributeType: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt16

  public init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  public static let mappedAddress = STUNAttributeType(rawValue: 0x0001)
  public static let username = STUNAttributeType(rawValue: 0x0006)
  public static let messageIntegrity = STUNAttributeType(rawValue: 0x0008)
  public static let errorCode = STUNAttributeType(rawValue: 0x0009)
  public static let unknownAttributes = STUNAttributeType(rawValue: 0x000a)
  public static let channelNumber = STUNAttributeType(rawValue: 0x000c)
  public static let lifetime = STUNAttributeType(rawValue: 0x000d)
  public static let xorPeerAddress = STUNAttributeType(rawValue: 0x0012)
  public static let data = STUNAttributeType(rawValue: 0x0013)
  public static let realm = STUNAttributeType(rawValue: 0x0014)
  public static let nonce = STUNAttributeType(rawValue: 0x0015)
  public static let xorRelayedAddress = STUNAttributeType(rawValue: 0x0016)
  public static let requestedAddressFamily = STUNAttributeType(rawValue: 0x0017)
  public static let requestedTransport = STUNAttributeType(rawValue: 0x0019)
  public static let messageIntegritySHA256 = STUNAttributeType(rawValue: 0x001c)
  public static let xorMappedAddress = STUNAttributeType(rawValue: 0x0020)
  public static let priority = STUNAttributeType(rawValue: 0x0024)
  public static let useCandidate = STUNAttributeType(rawValue: 0x0025)
  public static let software = STUNAttributeType(rawValue: 0x8022)
  public static let alternateServer = STUNAttributeType(rawValue: 0x8023)
  public static let fingerprint = STUNAttributeType(rawValue: 0x8028)
  public static let iceControlled = STUNAttributeType(rawValue: 0x8029)
  public static let iceControlling = STUNAttributeType(rawValue: 0x802a)
  /// draft-thatcher-ice-renomination-01, as libwebrtc has it.
  public static let nomination = STUNAttributeType(rawValue: 0xc001)

  /// Whether a receiver that does not know it must reject the message. RFC 8489 section 14.
  public var isComprehensionRequired: Bool { rawValue < 0x8000 }

  /// Whether it has a meaning in the methods of TURN only.
  var isOfTURN: Bool {
    switch self {
    case .channelNumber, .lifetime, .xorPeerAddress, .data, .xorRelayedAddress, .requestedAddressFamily,
      .requestedTransport:
      true
    default: false
    }
  }
}

/// One attribute with its value. RFC 8489 section 14, RFC 8445 section 16.1, RFC 8656 section 18.
///
/// The integrity attributes and FINGERPRINT are not included: `STUNMessage.encode` creates them,
/// `STUNMessage.verifyIntegrity` and `hasValidFingerprint` check them.
public enum STUNAttribute: Hashable, Sendable {
  case mappedAddress(TransportAddress)
  case xorMappedAddress(TransportAddress)
  case username(String)
  /// `code` is 300...699, `reason` is for a log.
  case errorCode(code: Int, reason: String)
  case unknownAttributes([STUNAttributeType])
  case realm(String)
  case nonce([UInt8])
  case software(String)
  case priority(UInt32)
  case useCandidate
  /// With the sender's tie-breaker.
  case iceControlled(UInt64)
  case iceControlling(UInt64)
  /// The number of the nomination; the highest counts. draft-thatcher-ice-renomination-01.
  case nomination(UInt32)
  /// 0x4000...0x4fff.
  case channelNumber(UInt16)
  /// In seconds.
  case lifetime(UInt32)
  case xorPeerAddress(TransportAddress)
  case xorRelayedAddress(TransportAddress)
  /// What is relayed.
  case data([UInt8])
  /// A protocol number of IANA; 17 is UDP.
  case requestedTransport(UInt8)
  case requestedAddressFamily(isIPv6: Bool)
  /// RFC 8489 section 14.15.
  case alternateServer(TransportAddress)
  /// Any other attribute, with its value without padding.
  case raw(STUNAttributeType, [UInt8])

  public var type: STUNAttributeType {
    switch self {
    case .mappedAddress: .mappedAddress
    case .xorMappedAddress: .xorMappedAddress
    case .username: .username
    case .errorCode: .errorCode
    case .unknownAttributes: .unknownAttributes
    case .realm: .realm
    case .nonce: .nonce
    case .software: .software
    case .priority: .priority
    case .useCandidate: .useCandidate
    case .iceControlled: .iceControlled
    case .iceControlling: .iceControlling
    case .nomination: .nomination
    case .channelNumber: .channelNumber
    case .lifetime: .lifetime
    case .xorPeerAddress: .xorPeerAddress
    case .xorRelayedAddress: .xorRelayedAddress
    case .data: .data
    case .requestedTransport: .requestedTransport
    case .requestedAddressFamily: .requestedAddressFamily
    case .alternateServer: .alternateServer
    case .raw(let type, _): type
    }
  }
}

extension STUNAttribute {
  /// The longest text of a bounded attribute, in bytes: 127 characters of up to 6 bytes, less one. RFC 8489 section 14.
  private static let maximumTextLength = 763
  /// RFC 8489 section 14.3: fewer than 509 bytes; the limit of RFC 5389 is 512, and peers may still use it.
  private static let maximumUsernameLength = 512

  static func decode(
    _ type: STUNAttributeType, _ value: ArraySlice<UInt8>, transactionID: STUNTransactionID
  ) throws(WireError) -> STUNAttribute {
    var reader = ByteReader(value)
    switch type {
    case .mappedAddress:
      return .mappedAddress(try decodeAddress(value, mask: nil))
    case .xorMappedAddress:
      return .xorMappedAddress(try decodeAddress(value, mask: transactionID))
    case .username:
      return .username(try text(value, limit: maximumUsernameLength))
    case .errorCode:
      return try decodeErrorCode(value)
    case .unknownAttributes:
      guard value.count % 2 == 0, value.count <= 2 * STUNConstants.maximumAttributes else {
        throw .malformed("UNKNOWN-ATTRIBUTES is a short list of 16-bit types")
      }
      var types: [STUNAttributeType] = []
      while !reader.isAtEnd { types.append(STUNAttributeType(rawValue: try reader.readUInt16())) }
      return .unknownAttributes(types)
    case .realm:
      return .realm(try text(value, limit: maximumTextLength))
    case .nonce:
      guard value.count <= maximumTextLength else { throw .malformed("NONCE is at most 763 bytes") }
      return .nonce(Array(value))
    case .software:
      return .software(try text(value, limit: maximumTextLength))
    case .priority:
      guard value.count == 4 else { throw .malformed("PRIORITY is 4 bytes") }
      return .priority(try reader.readUInt32())
    case .nomination:
      guard value.count == 4 else { throw .malformed("NOMINATION is 4 bytes") }
      return .nomination(try reader.readUInt32())
    case .useCandidate:
      guard value.isEmpty else { throw .malformed("USE-CANDIDATE is empty") }
      return .useCandidate
    case .iceControlled, .iceControlling:
      guard value.count == 8 else { throw .malformed("a tie-breaker is 8 bytes") }
      let tieBreaker = try reader.readUInt64()
      return type == .iceControlled ? .iceControlled(tieBreaker) : .iceControlling(tieBreaker)
    default:
      return try decodeTURN(type, value, transactionID: transactionID)
    }
  }

  private static func text(_ value: ArraySlice<UInt8>, limit: Int) throws(WireError) -> String {
    guard value.count <= limit else { throw .malformed("a text attribute is longer than it may be") }
    guard let text = String(validating: value, as: UTF8.self) else { throw .malformed("a text attribute is UTF-8") }
    return text
  }

  /// RFC 8489 sections 14.1 and 14.2.
  static func decodeAddress(
    _ value: ArraySlice<UInt8>, mask: STUNTransactionID?
  ) throws(WireError) -> TransportAddress {
    var reader = ByteReader(value)
    try reader.skip(1)
    let family = try reader.readUInt8()
    let port = try reader.readUInt16()
    let address = reader.readRest()
    guard address.count == (family == 1 ? 4 : 16), family == 1 || family == 2 else {
      throw .malformed("an address is of family 1 with 4 bytes or of family 2 with 16")
    }
    guard let mask else {
      guard let ip = IPAddress(bytes: address) else { throw .truncated }
      return TransportAddress(ip: ip, port: port)
    }
    guard let ip = IPAddress(bytes: zip(address, maskBytes(mask)).map { $0 ^ $1 }) else { throw .truncated }
    return TransportAddress(ip: ip, port: port ^ UInt16(truncatingIfNeeded: STUNConstants.magicCookie >> 16))
  }

  private static func maskBytes(_ transactionID: STUNTransactionID) -> [UInt8] {
    var writer = ByteWriter(reservingCapacity: 16)
    writer.write(STUNConstants.magicCookie)
    writer.write(contentsOf: transactionID.bytes)
    return writer.bytes
  }

  /// RFC 8489 section 14.8.
  private static func decodeErrorCode(_ value: ArraySlice<UInt8>) throws(WireError) -> STUNAttribute {
    var reader = ByteReader(value)
    try reader.skip(2)
    let hundreds = Int(try reader.readUInt8() & 7)
    let rest = Int(try reader.readUInt8())
    guard (3...6).contains(hundreds), rest < 100 else { throw .malformed("an error code is 300...699") }
    return .errorCode(code: hundreds * 100 + rest, reason: try text(reader.readRest(), limit: maximumTextLength))
  }

  /// The value's bytes, without padding.
  func encodedValue(transactionID: STUNTransactionID) -> [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .mappedAddress(let address): Self.write(address, mask: nil, to: &writer)
    case .xorMappedAddress(let address): Self.write(address, mask: transactionID, to: &writer)
    case .username(let text), .realm(let text), .software(let text): writer.write(contentsOf: text.utf8)
    case .errorCode(let code, let reason):
      writer.write(UInt16(0))
      writer.write(UInt8(truncatingIfNeeded: code / 100))
      writer.write(UInt8(truncatingIfNeeded: code % 100))
      writer.write(contentsOf: reason.utf8)
    case .unknownAttributes(let types): types.forEach { writer.write($0.rawValue) }
    case .nonce(let bytes), .raw(_, let bytes): writer.write(contentsOf: bytes)
    case .priority(let priority): writer.write(priority)
    case .nomination(let number): writer.write(number)
    case .useCandidate: break
    case .iceControlled(let tieBreaker), .iceControlling(let tieBreaker): writer.write(tieBreaker)
    case .alternateServer(let address): Self.write(address, mask: nil, to: &writer)
    case .xorPeerAddress(let address), .xorRelayedAddress(let address):
      Self.write(address, mask: transactionID, to: &writer)
    case .data(let bytes): writer.write(contentsOf: bytes)
    case .lifetime(let seconds): writer.write(seconds)
    // Both leave room behind them. RFC 8656 sections 18.1 and 18.8.
    case .channelNumber(let number): writer.write(UInt32(number) << 16)
    case .requestedTransport(let number): writer.write(UInt32(number) << 24)
    case .requestedAddressFamily(let isIPv6): writer.write(UInt32(isIPv6 ? 2 : 1) << 24)
    }
    return writer.bytes
  }

  private static func write(_ address: TransportAddress, mask: STUNTransactionID?, to writer: inout ByteWriter) {
    writer.write(UInt8(0))
    writer.write(UInt8(address.ip.isIPv6 ? 2 : 1))
    if let mask {
      writer.write(address.port ^ UInt16(truncatingIfNeeded: STUNConstants.magicCookie >> 16))
      writer.write(contentsOf: zip(address.ip.bytes, maskBytes(mask)).map { $0 ^ $1 })
    } else {
      writer.write(address.port)
      writer.write(contentsOf: address.ip.bytes)
    }
  }
}
