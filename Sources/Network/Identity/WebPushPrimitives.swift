internal import Pairing
public import SecureTransport
public import WebPush
public import Wire

/// `WebPushCrypto` over OpenSSL.
public struct WebPushPrimitives: WebPushCrypto {
  public let hashes: any Hashes = CryptoHashes()
  private let group = P256Arithmetic()

  public init() {}

  public func ephemeralKey(seed: [UInt8]) -> EphemeralKey? {
    let scalar = group.scalar(reducing: seed)
    guard let point = group.multiplyGenerator(by: scalar) else { return nil }
    return EphemeralKey(privateKey: scalar.bytes, publicKey: point.bytes)
  }

  public func sharedSecret(_ key: EphemeralKey, with publicKey: [UInt8]) -> [UInt8]? {
    guard let point = group.point(publicKey) else { return nil }
    return group.multiply(point, by: group.scalar(reducing: key.privateKey)).map { Array($0.bytes[1...32]) }
  }

  public func isPublicKey(_ bytes: [UInt8]) -> Bool { group.point(bytes) != nil }

  public func seal(_ plaintext: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8] {
    AES128GCM.seal(plaintext, key: key, nonce: nonce, authenticating: [])
  }
}

/// The key for push services: no other one, so that they do not learn the node's identity.
public struct PushKey: VAPIDSigner {
  private let key: PrivateKey

  public init(key: PrivateKey) {
    self.key = key
  }

  /// A new key from the system's random number generator.
  public static func generate() -> PushKey {
    PushKey(key: .generate())
  }

  /// Reads a PEM private key. Throws `SecureError.malformedKey`.
  public init(pem: String) throws(SecureError) {
    self.init(key: try PrivateKey(pem: pem))
  }

  /// As PKCS#8 PEM, for `push.pem` (mode 0600).
  public var pem: String { key.pem }

  public var publicKey: [UInt8] { Array(key.publicKeySPKI.suffix(65)) }

  public func sign(_ message: [UInt8]) -> [UInt8] {
    ECDSA.sign(message, with: key)
  }
}
