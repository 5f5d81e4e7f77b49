internal import COpenSSL

/// A private key for ECDSA on P-256. Copies share one key in memory, which is wiped when the last copy is released.
public struct PrivateKey: Sendable {
  private final class Storage: Sendable {
    let handle: PrivateKeyHandle

    init(_ handle: consuming PrivateKeyHandle) {
      self.handle = handle
    }
  }

  private let storage: Storage

  /// The public key as DER SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7) with an uncompressed point, 91 bytes.
  public let publicKeySPKI: [UInt8]

  private init(_ handle: consuming PrivateKeyHandle) throws(SecureError) {
    publicKeySPKI = try handle.checkedPublicKey()
    storage = Storage(handle)
  }

  /// A new key from OpenSSL's random number generator.
  public static func generate() -> PrivateKey {
    guard let pointer = copenssl_generate_p256(), let key = try? PrivateKey(PrivateKeyHandle(adopting: pointer)) else {
      preconditionFailure("OpenSSL has P-256, memory and random numbers: \(OpenSSLQueue.takeReason())")
    }
    return key
  }

  /// Reads a PEM private key, PKCS#8 (RFC 5958) or SEC 1 (RFC 5915). Throws `SecureError.malformedKey`.
  public init(pem: String) throws(SecureError) {
    // A hand-made file may have an "EC PARAMETERS" block before a SEC 1 key; only the key's block matters.
    for marker in ["PRIVATE KEY", "EC PRIVATE KEY"] {
      guard let start = pem.firstRange(of: "-----BEGIN \(marker)-----"),
        let end = pem.firstRange(of: "-----END \(marker)-----"), start.upperBound <= end.lowerBound
      else { continue }
      try self.init(PrivateKeyHandle(block: pem[start.lowerBound..<end.upperBound]))
      return
    }
    throw .malformedKey("no BEGIN PRIVATE KEY line")
  }

  /// The key as PKCS#8 PEM, with a trailing line break. Store it in a file of mode 0600.
  public var pem: String {
    let buffer = MemoryBIO()
    let written = PEM_write_bio_PKCS8PrivateKey(buffer.pointer, storage.handle.pointer, nil, nil, 0, nil, nil)
    precondition(written == 1, "a key that was checked can be written")
    return buffer.text
  }

  /// The `EVP_PKEY`, valid while `body` runs.
  package func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
    body(storage.handle.pointer)
  }
}

/// Owns an `EVP_PKEY`. It is not changed once checked, so OpenSSL may read it on several threads.
private struct PrivateKeyHandle: ~Copyable, @unchecked Sendable {
  let pointer: OpaquePointer

  /// Takes ownership of a reference that the caller holds.
  init(adopting pointer: OpaquePointer) {
    self.pointer = pointer
  }

  /// - Parameter block: One PEM block from its BEGIN to its END line.
  init(block: Substring) throws(SecureError) {
    OpenSSLQueue.clear()
    let buffer = MemoryBIO("\(block)\n")
    // Without a callback OpenSSL would ask for a passphrase on the terminal.
    guard let pointer = PEM_read_bio_PrivateKey(buffer.pointer, nil, { _, _, _, _ in -1 }, nil) else {
      throw .malformedKey(OpenSSLQueue.takeReason())
    }
    self.pointer = pointer
  }

  deinit {
    EVP_PKEY_free(pointer)
  }

  /// Verifies that this is a valid key on P-256 and returns its public key in its canonical encoding.
  func checkedPublicKey() throws(SecureError) -> [UInt8] {
    OpenSSLQueue.clear()
    defer { OpenSSLQueue.clear() }
    var (name, length) = ([CChar](repeating: 0, count: 32), 0)
    guard EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1,
      name.prefix(length).map(UInt8.init(bitPattern:)) == Array(SN_X9_62_prime256v1.utf8)
    else { throw .malformedKey("not on P-256") }
    guard copenssl_check_private_key(pointer) == 1 else { throw .malformedKey(OpenSSLQueue.takeReason()) }
    // A file may hold the point in its compressed form.
    EVP_PKEY_set_utf8_string_param(pointer, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, "uncompressed")
    let count = i2d_PUBKEY(pointer, nil)
    guard count == 91 else { throw .malformedKey("no named curve with an uncompressed point") }
    return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
      var position = buffer.baseAddress
      initialized = Int(max(0, i2d_PUBKEY(pointer, &position)))
    }
  }
}
