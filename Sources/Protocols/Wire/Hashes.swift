/// The hash functions that the cores need, passed in by the shell so that no core links a crypto library.
public protocol Hashes: Sendable {
  /// HMAC-SHA1 (RFC 2104), 20 bytes: STUN MESSAGE-INTEGRITY, RFC 8489 section 14.5.
  func hmacSHA1(key: [UInt8], message: [UInt8]) -> [UInt8]
  /// HMAC-SHA256, 32 bytes: STUN MESSAGE-INTEGRITY-SHA256 and SCTP state cookies.
  func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8]
  /// SHA-256, 32 bytes.
  func sha256(_ message: [UInt8]) -> [UInt8]
  /// MD5, 16 bytes: the long-term credential key of STUN, RFC 8489 section 9.2.2, and Digest access of RTSP players, RFC 7616,
  /// which know nothing better. Nothing else may use it.
  func md5(_ message: [UInt8]) -> [UInt8]
}

/// Compares without leaking the position of a difference. For authenticators from a peer.
public func constantTimeEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
  guard left.count == right.count else { return false }
  var difference: UInt8 = 0
  for (a, b) in zip(left, right) { difference |= a ^ b }
  return difference == 0
}

/// CRC-32 as in ISO/IEC 3309 (reflected 0xEDB88320), for STUN FINGERPRINT (RFC 8489 section 14.7).
public enum CRC32 {
  private static let table: [UInt32] = makeTable(polynomial: 0xedb8_8320)

  public static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
    crc(bytes, table: table)
  }
}

/// CRC-32C (Castagnoli, reflected 0x82F63B78), for SCTP (RFC 9260 appendix A).
public enum CRC32C {
  private static let table: [UInt32] = makeTable(polynomial: 0x82f6_3b78)

  public static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
    crc(bytes, table: table)
  }
}

private func makeTable(polynomial: UInt32) -> [UInt32] {
  (0..<256).map { index in
    var value = UInt32(index)
    for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ polynomial : value >> 1 }
    return value
  }
}

private func crc(_ bytes: some Sequence<UInt8>, table: [UInt32]) -> UInt32 {
  // Whole packets are arrays. Walking their storage spares a generic iterator call for each byte.
  if let value = bytes.withContiguousStorageIfAvailable({ crc($0, table: table) }) { return value }
  var value: UInt32 = 0xffff_ffff
  for byte in bytes { value = value >> 8 ^ table[Int((value ^ UInt32(byte)) & 0xff)] }
  return ~value
}

private func crc(_ bytes: UnsafeBufferPointer<UInt8>, table: [UInt32]) -> UInt32 {
  table.withUnsafeBufferPointer { table in
    var value: UInt32 = 0xffff_ffff
    for byte in bytes { value = value >> 8 ^ table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] }
    return ~value
  }
}
