internal import COpenSSL
internal import Crypto
public import Pairing
public import Wire

/// The crypto port of pairing over OpenSSL (group and PBKDF2) and swift-crypto (the rest).
public struct PairingPrimitives: PairingCrypto {
  public let hashes: any Hashes = CryptoHashes()
  private let group = P256Arithmetic()

  public init() {}

  public func stretch(password: [UInt8], salt: [UInt8], iterations: Int, count: Int) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: count)
    let done = password.withUnsafeBytes { password in
      PKCS5_PBKDF2_HMAC(
        password.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(password.count), salt, Int32(salt.count),
        Int32(clamping: iterations), EVP_sha256(), Int32(count), &output)
    }
    precondition(done == 1, "PBKDF2 has its memory and at least one iteration")
    return output
  }

  public func seal(_ plaintext: [UInt8], key: [UInt8], authenticating: [UInt8]) -> [UInt8] {
    guard
      let box = try? AES.GCM.seal(
        plaintext, using: SymmetricKey(data: key), nonce: Self.nonce, authenticating: authenticating)
    else { preconditionFailure("a key of 16 bytes seals a short message") }
    return Array(box.ciphertext) + Array(box.tag)
  }

  public func open(_ sealed: [UInt8], key: [UInt8], authenticating: [UInt8]) -> [UInt8]? {
    guard sealed.count >= 16,
      let box = try? AES.GCM.SealedBox(nonce: Self.nonce, ciphertext: sealed.dropLast(16), tag: sealed.suffix(16)),
      let plaintext = try? AES.GCM.open(box, using: SymmetricKey(data: key), authenticating: authenticating)
    else { return nil }
    return Array(plaintext)
  }

  /// One key, one message: `PairingCrypto.seal`.
  private static var nonce: AES.GCM.Nonce {
    guard let nonce = try? AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 12)) else {
      preconditionFailure("AES-GCM has nonces of 12 bytes")
    }
    return nonce
  }

  public func isSignature(_ signature: [UInt8], over message: [UInt8], by publicKey: [UInt8]) -> Bool {
    // The second spelling of a key (compressed, say) would have a second id.
    guard let key = try? P256.Signing.PublicKey(derRepresentation: publicKey),
      Array(key.derRepresentation) == publicKey,
      let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
    else { return false }
    return key.isValidSignature(signature, for: message)
  }

  public func point(_ bytes: [UInt8]) -> P256Point? { group.point(bytes) }
  public func scalar(reducing bytes: [UInt8]) -> P256Scalar { group.scalar(reducing: bytes) }
  public func multiplyGenerator(by scalar: P256Scalar) -> P256Point? { group.multiplyGenerator(by: scalar) }
  public func multiply(_ point: P256Point, by scalar: P256Scalar) -> P256Point? { group.multiply(point, by: scalar) }
  public func add(_ left: P256Point, _ right: P256Point) -> P256Point? { group.add(left, right) }
  public func negate(_ point: P256Point) -> P256Point { group.negate(point) }
}

extension NodeIdentity: IdentitySigner {
  public func sign(_ message: [UInt8]) -> [UInt8] {
    guard let signature = try? key.signature(for: message) else {
      preconditionFailure("a key on P-256 signs any message")
    }
    return Array(signature.rawRepresentation)
  }
}
