public import Wire

/// What pairing needs from a crypto library, passed in by the shell.
public protocol PairingCrypto: P256Group {
  var hashes: any Hashes { get }
  /// PBKDF2 with HMAC-SHA256. RFC 8018 section 5.2.
  func stretch(password: [UInt8], salt: [UInt8], iterations: Int, count: Int) -> [UInt8]
  /// AES-128-GCM with an all-zero nonce: a 16-byte key seals only one message ever. The 16-byte tag follows the
  /// ciphertext.
  func seal(_ plaintext: [UInt8], key: [UInt8], authenticating: [UInt8]) -> [UInt8]
  /// Nil if the tag does not verify.
  func open(_ sealed: [UInt8], key: [UInt8], authenticating: [UInt8]) -> [UInt8]?
  /// Whether `signature` (ECDSA with SHA-256, r and s of 32 bytes each) over `message` was made with the private key of
  /// `publicKey`. Also false if that is not a canonical DER SubjectPublicKeyInfo on P-256.
  func isSignature(_ signature: [UInt8], over message: [UInt8], by publicKey: [UInt8]) -> Bool
}

/// Our own long-lived key.
public protocol IdentitySigner: Sendable {
  /// DER SubjectPublicKeyInfo, `IdentityKey.byteCount` bytes.
  var publicKeySPKI: [UInt8] { get }
  /// ECDSA with SHA-256: r and s, 32 bytes each.
  func sign(_ message: [UInt8]) -> [UInt8]
}

/// Sizes and names of identity keys.
public enum IdentityKey {
  /// DER SubjectPublicKeyInfo of a point on P-256, uncompressed. RFC 5480.
  public static let byteCount = 91
  public static let signatureByteCount = 64

  /// 16 lower-case hexadecimal digits: the first 8 bytes of the key's SHA-256. interfaces/wire.md, "DNS-SD".
  public static func id(publicKeySPKI: [UInt8], hashes: any Hashes) -> String {
    id(sha256: hashes.sha256(publicKeySPKI))
  }

  /// The same from the digest.
  public static func id(sha256: some Sequence<UInt8>) -> String {
    sha256.prefix(8).hexadecimal()
  }
}
