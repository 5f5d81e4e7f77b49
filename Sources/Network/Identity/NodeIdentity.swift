public import Pairing
public import SecureTransport

/// The node's long-lived key: ECDSA on P-256. Pairing, the DNS-SD id, DTLS and HTTPS all depend on it.
public struct NodeIdentity: Sendable {
  public let key: PrivateKey
  /// 16 lower-case hexadecimal digits: the first 8 bytes of SHA-256 over `publicKeySPKI`. interfaces/wire.md, "DNS-SD".
  public let id: String

  public init(key: PrivateKey) {
    self.key = key
    id = IdentityKey.id(publicKeySPKI: key.publicKeySPKI, hashes: CryptoHashes())
  }

  /// A new key from the system's random number generator.
  public static func generate() -> NodeIdentity {
    NodeIdentity(key: .generate())
  }

  /// Reads a PEM private key, PKCS#8 (RFC 5958) or SEC 1 (RFC 5915). Throws `SecureError.malformedKey`.
  public init(pem: String) throws(SecureError) {
    self.init(key: try PrivateKey(pem: pem))
  }

  /// The private key as PKCS#8 PEM, for `identity.pem` (mode 0600).
  public var pem: String { key.pem }

  /// The public key as DER SubjectPublicKeyInfo, `IdentityKey.byteCount` bytes.
  public var publicKeySPKI: [UInt8] { key.publicKeySPKI }
}

extension NodeIdentity: IdentitySigner {
  public func sign(_ message: [UInt8]) -> [UInt8] {
    ECDSA.sign(message, with: key)
  }
}
