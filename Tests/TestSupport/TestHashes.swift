internal import COpenSSL
public import Wire

/// The cores' hash port over OpenSSL, so that their tests need no Swift package.
public struct TestHashes: Hashes {
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
    var output = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    HMAC(algorithm, key, Int32(key.count), message, message.count, &output, &length)
    return Array(output.prefix(Int(length)))
  }

  private func digest(_ algorithm: OpaquePointer?, _ message: [UInt8]) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    EVP_Digest(message, message.count, &output, &length, algorithm, nil)
    return Array(output.prefix(Int(length)))
  }
}
