import Wire

/// Authenticates everything alike, so that mutated messages reach the inner parts.
struct BlindHashes: Hashes {
  func hmacSHA1(key: [UInt8], message: [UInt8]) -> [UInt8] { Array(repeating: 7, count: 20) }
  func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] { Array(repeating: 7, count: 32) }
  func sha256(_ message: [UInt8]) -> [UInt8] { Array(repeating: 7, count: 32) }
  func md5(_ message: [UInt8]) -> [UInt8] { Array(repeating: 7, count: 16) }
}
