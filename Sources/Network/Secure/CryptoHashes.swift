internal import Crypto
public import Wire

/// The cores' hash port over swift-crypto. SHA-1 and MD5 are here because STUN fixed them long ago; both only ever
/// authenticate with a secret key (RFC 8489 sections 9.2.2 and 14.5).
public struct CryptoHashes: Hashes {
  public init() {}

  public func hmacSHA1(key: [UInt8], message: [UInt8]) -> [UInt8] {
    Array(HMAC<Insecure.SHA1>.authenticationCode(for: message, using: SymmetricKey(data: key)))
  }

  public func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key)))
  }

  public func sha256(_ message: [UInt8]) -> [UInt8] {
    Array(SHA256.hash(data: message))
  }

  public func md5(_ message: [UInt8]) -> [UInt8] {
    Array(Insecure.MD5.hash(data: message))
  }
}
