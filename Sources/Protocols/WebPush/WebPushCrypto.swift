public import Wire

/// What Web Push needs from a crypto library, passed in by the shell.
public protocol WebPushCrypto: Sendable {
  var hashes: any Hashes { get }
  /// An ephemeral key pair on P-256.
  ///
  /// - Parameter seed: `EphemeralKey.seedBytes` random bytes, which become the private key modulo the order of the curve.
  /// - Returns: nil for the one seed in 2^256 that gives no key.
  func ephemeralKey(seed: [UInt8]) -> EphemeralKey?
  /// ECDH on P-256: the x coordinate of the product, 32 bytes. SEC 1 section 3.3.1.
  ///
  /// - Parameter publicKey: an uncompressed point, 65 bytes. Nil if it is not on the curve.
  func sharedSecret(_ key: EphemeralKey, with publicKey: [UInt8]) -> [UInt8]?
  /// Whether the bytes are an uncompressed point on P-256.
  func isPublicKey(_ bytes: [UInt8]) -> Bool
  /// AES-128-GCM with its tag of 16 bytes behind the ciphertext. NIST SP 800-38D.
  ///
  /// - Parameters:
  ///   - key: 16 bytes.
  ///   - nonce: 12 bytes.
  func seal(_ plaintext: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]
}

/// A key pair on P-256 that encrypts one message. RFC 8291 section 3.1.
public struct EphemeralKey: Sendable {
  /// 32 bytes, big-endian.
  public let privateKey: [UInt8]
  /// An uncompressed point, 65 bytes.
  public let publicKey: [UInt8]

  /// Sixteen bytes more than the order of the curve has, so that all keys are equally likely. FIPS 186-5 appendix A.2.1.
  public static let seedBytes = 48

  public init(privateKey: [UInt8], publicKey: [UInt8]) {
    self.privateKey = privateKey
    self.publicKey = publicKey
  }
}

/// The key with which a child signs its requests to push services. RFC 8292 section 2.
public protocol VAPIDSigner: Sendable {
  /// An uncompressed point on P-256, 65 bytes.
  var publicKey: [UInt8] { get }
  /// ECDSA on P-256 with SHA-256: r and s, 32 bytes each.
  func sign(_ message: [UInt8]) -> [UInt8]
}
