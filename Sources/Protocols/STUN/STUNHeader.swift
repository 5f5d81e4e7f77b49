/// The class of a message. RFC 8489 section 5.
public enum STUNClass: UInt8, Hashable, Sendable {
  case request = 0
  case indication = 1
  case successResponse = 2
  case errorResponse = 3
}

/// The method of a message: 12 bits. RFC 8489 section 18.2, RFC 8656 section 17.
public struct STUNMethod: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt16

  public init(rawValue: UInt16) {
    self.rawValue = rawValue & 0x0fff
  }

  public static let binding = STUNMethod(rawValue: 0x001)
  public static let allocate = STUNMethod(rawValue: 0x003)
  public static let refresh = STUNMethod(rawValue: 0x004)
  /// An indication: from the client, for a peer.
  public static let send = STUNMethod(rawValue: 0x006)
  /// An indication: from a peer, for the client.
  public static let data = STUNMethod(rawValue: 0x007)
  public static let createPermission = STUNMethod(rawValue: 0x008)
  public static let channelBind = STUNMethod(rawValue: 0x009)
}

/// The 96 bits that tie a response to its request. RFC 8489 section 5.
public struct STUNTransactionID: Hashable, Sendable {
  private var high: UInt32
  private var low: UInt64

  /// From 12 network-order bytes; nil for any other count.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 12 else { return nil }
    high = bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    low = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  init(high: UInt32, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A random one. RFC 8489 section 5 asks for a uniform, unpredictable choice, so that a response cannot be guessed.
  public static func random(using generator: inout some RandomNumberGenerator) -> STUNTransactionID {
    STUNTransactionID(high: generator.next(), low: generator.next())
  }

  /// 12 bytes in network order.
  public var bytes: [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: high >> (24 - 8 * $0)) }
      + (0..<8).map { UInt8(truncatingIfNeeded: low >> (56 - 8 * $0)) }
  }
}

/// The 14 bits of method and class, interleaved as on the wire. RFC 8489 section 5, figure 3.
enum STUNMessageType {
  static func encode(_ messageClass: STUNClass, _ method: STUNMethod) -> UInt16 {
    let bits = method.rawValue
    let classBits = UInt16(messageClass.rawValue)
    return (bits & 0x0f80) << 2 | (bits & 0x0070) << 1 | bits & 0x000f | (classBits & 2) << 7 | (classBits & 1) << 4
  }

  static func decode(_ type: UInt16) -> (STUNClass, STUNMethod)? {
    let classBits = UInt8((type >> 7) & 2 | (type >> 4) & 1)
    guard type & 0xc000 == 0, let messageClass = STUNClass(rawValue: classBits) else { return nil }
    return (messageClass, STUNMethod(rawValue: (type >> 2) & 0x0f80 | (type >> 1) & 0x0070 | type & 0x000f))
  }
}

/// RFC 8489 constants that more than one file needs.
public enum STUNConstants {
  /// RFC 8489 section 5.
  public static let magicCookie: UInt32 = 0x2112_a442
  /// Type, length, cookie and transaction id.
  public static let headerLength = 20
  /// More attributes than any STUN, ICE or TURN message has; messages with more are rejected.
  public static let maximumAttributes = 32
  /// The XOR mask of FINGERPRINT's checksum ("STUN"). RFC 8489 section 14.7.
  static let fingerprintMask: UInt32 = 0x5354_554e
}
