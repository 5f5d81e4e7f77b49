internal import COpenSSL
public import Pairing
internal import SecureTransport
public import Wire

/// `PairingCrypto` over OpenSSL.
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
    AES128GCM.seal(plaintext, key: key, nonce: Self.nonce, authenticating: authenticating)
  }

  public func open(_ sealed: [UInt8], key: [UInt8], authenticating: [UInt8]) -> [UInt8]? {
    AES128GCM.open(sealed, key: key, nonce: Self.nonce, authenticating: authenticating)
  }

  /// Each key seals only one message: `PairingCrypto.seal`.
  private static let nonce = [UInt8](repeating: 0, count: AES128GCM.nonceBytes)

  public func isSignature(_ signature: [UInt8], over message: [UInt8], by publicKey: [UInt8]) -> Bool {
    ECDSA.isSignature(signature, over: message, by: publicKey)
  }

  public func point(_ bytes: [UInt8]) -> P256Point? { group.point(bytes) }
  public func scalar(reducing bytes: [UInt8]) -> P256Scalar { group.scalar(reducing: bytes) }
  public func multiplyGenerator(by scalar: P256Scalar) -> P256Point? { group.multiplyGenerator(by: scalar) }
  public func multiply(_ point: P256Point, by scalar: P256Scalar) -> P256Point? { group.multiply(point, by: scalar) }
  public func add(_ left: P256Point, _ right: P256Point) -> P256Point? { group.add(left, right) }
  public func negate(_ point: P256Point) -> P256Point { group.negate(point) }
}
