internal import COpenSSL
public import Wire

/// The cores' hash port over OpenSSL. Includes SHA-1 and MD5 because STUN requires them; both are only ever used to
/// authenticate with a secret key (RFC 8489 sections 9.2.2 and 14.5).
public struct CryptoHashes: Hashes {
  public init() {}

  public func hmacSHA1(key: [UInt8], message: [UInt8]) -> [UInt8] {
    hmac(EVP_sha1(), key: key, message: message)
  }

  public func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] {
    hmac(EVP_sha256(), key: key, message: message)
  }

  public func sha256(_ message: [UInt8]) -> [UInt8] {
    digest(EVP_sha256(), message)
  }

  public func md5(_ message: [UInt8]) -> [UInt8] {
    digest(EVP_md5(), message)
  }

  private func hmac(_ algorithm: OpaquePointer?, key: [UInt8], message: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
      var length: UInt32 = 0
      let code = HMAC(algorithm, key, Int32(key.count), message, message.count, buffer.baseAddress, &length)
      precondition(code != nil, "the default provider has HMAC with SHA-1 and SHA-256")
      count = Int(length)
    }
  }

  private func digest(_ algorithm: OpaquePointer?, _ message: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
      var length: UInt32 = 0
      let done = EVP_Digest(message, message.count, buffer.baseAddress, &length, algorithm, nil)
      precondition(done == 1, "the default provider has SHA-256 and MD5")
      count = Int(length)
    }
  }
}
