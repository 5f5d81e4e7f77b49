internal import Crypto
internal import FoundationEssentials

/// The node's long-lived key: ECDSA on P-256. Pairing, the DNS-SD id, DTLS and HTTPS all stand on it.
public struct NodeIdentity: Sendable {
  let key: P256.Signing.PrivateKey

  private init(key: P256.Signing.PrivateKey) {
    self.key = key
  }

  /// A new key from the system's random numbers.
  public static func generate() -> NodeIdentity {
    NodeIdentity(key: P256.Signing.PrivateKey())
  }

  /// Reads a PEM private key, PKCS#8 (RFC 5958) or SEC 1 (RFC 5915). Throws `SecureError.malformedKey`.
  public init(pem: String) throws(SecureError) {
    // A hand-made file may carry "EC PARAMETERS" before a SEC 1 key; the key's block alone is what counts.
    let markers = ["PRIVATE KEY", "EC PRIVATE KEY"]
    for marker in markers {
      guard let start = pem.firstRange(of: "-----BEGIN \(marker)-----"),
        let end = pem.firstRange(of: "-----END \(marker)-----"), start.upperBound <= end.lowerBound
      else { continue }
      do {
        key = try P256.Signing.PrivateKey(pemRepresentation: String(pem[start.lowerBound..<end.upperBound]))
        return
      } catch {
        throw .malformedKey("\(error)")
      }
    }
    throw .malformedKey("no BEGIN PRIVATE KEY line")
  }

  /// The private key as PKCS#8 PEM, for `identity.pem` (mode 0600).
  public var pem: String { key.pemRepresentation + "\n" }

  /// The public key as DER SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7), 91 bytes.
  public var publicKeySPKI: [UInt8] { Array(key.publicKey.derRepresentation) }

  /// 16 lower-case hexadecimal digits: the first 8 bytes of SHA-256 over `publicKeySPKI`. INTERFACES.md, "DNS-SD".
  public var id: String { Self.id(publicKeySPKI: publicKeySPKI) }

  /// The id that belongs to any party's public key.
  public static func id(publicKeySPKI: [UInt8]) -> String {
    SHA256.hash(data: publicKeySPKI).prefix(8).map { byte in
      String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
  }

  /// The private key as DER PKCS#8, for OpenSSL.
  var privateKeyDER: [UInt8] { Array(key.derRepresentation) }
}
