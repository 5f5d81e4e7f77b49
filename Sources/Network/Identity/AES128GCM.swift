internal import COpenSSL
internal import SecureTransport

/// AES-128 in Galois/Counter Mode with the 16-byte tag appended to the ciphertext. NIST SP 800-38D.
enum AES128GCM {
  static let keyBytes = 16
  static let nonceBytes = 12
  static let tagBytes = 16

  /// - Parameters:
  ///   - key: `keyBytes` bytes.
  ///   - nonce: `nonceBytes` bytes, never reused with the same key.
  static func seal(_ plaintext: [UInt8], key: [UInt8], nonce: [UInt8], authenticating: [UInt8]) -> [UInt8] {
    let context = CipherContext(key: key, nonce: nonce, isSealing: true)
    var sealed = [UInt8](repeating: 0, count: plaintext.count + tagBytes)
    let done = sealed.withUnsafeMutableBufferPointer { buffer in
      guard context.authenticate(authenticating), context.process(plaintext, into: buffer), context.finish() else {
        return false
      }
      let tag = buffer.baseAddress.map { $0 + plaintext.count }
      return EVP_CIPHER_CTX_ctrl(context.pointer, EVP_CTRL_AEAD_GET_TAG, Int32(tagBytes), tag) == 1
    }
    precondition(done, "a key of 16 bytes seals a short message: \(OpenSSLQueue.takeReason())")
    return sealed
  }

  /// Nil when the tag does not match.
  static func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8], authenticating: [UInt8]) -> [UInt8]? {
    guard sealed.count >= tagBytes else { return nil }
    let ciphertext = Array(sealed.dropLast(tagBytes))
    var tag = Array(sealed.suffix(tagBytes))
    let context = CipherContext(key: key, nonce: nonce, isSealing: false)
    var plaintext = [UInt8](repeating: 0, count: ciphertext.count)
    defer { OpenSSLQueue.clear() }
    let isGenuine = plaintext.withUnsafeMutableBufferPointer { buffer in
      EVP_CIPHER_CTX_ctrl(context.pointer, EVP_CTRL_AEAD_SET_TAG, Int32(tagBytes), &tag) == 1
        && context.authenticate(authenticating) && context.process(ciphertext, into: buffer) && context.finish()
    }
    return isGenuine ? plaintext : nil
  }
}

/// Owns an `EVP_CIPHER_CTX`, which is wiped when freed.
private struct CipherContext: ~Copyable {
  let pointer: OpaquePointer

  init(key: [UInt8], nonce: [UInt8], isSealing: Bool) {
    precondition(key.count == AES128GCM.keyBytes && nonce.count == AES128GCM.nonceBytes, "AES-128-GCM")
    guard let pointer = EVP_CIPHER_CTX_new(),
      EVP_CipherInit_ex(pointer, EVP_aes_128_gcm(), nil, key, nonce, isSealing ? 1 : 0) == 1
    else { preconditionFailure("OpenSSL has AES-GCM and memory") }
    self.pointer = pointer
  }

  deinit {
    EVP_CIPHER_CTX_free(pointer)
  }

  func authenticate(_ bytes: [UInt8]) -> Bool {
    var count: Int32 = 0
    return bytes.isEmpty || EVP_CipherUpdate(pointer, nil, &count, bytes, Int32(bytes.count)) == 1
  }

  func process(_ bytes: [UInt8], into output: UnsafeMutableBufferPointer<UInt8>) -> Bool {
    var count: Int32 = 0
    return bytes.isEmpty
      || EVP_CipherUpdate(pointer, output.baseAddress, &count, bytes, Int32(bytes.count)) == 1 && count == bytes.count
  }

  /// Verifies the tag when opening. GCM produces no further bytes here.
  func finish() -> Bool {
    var (count, nothing): (Int32, UInt8) = (0, 0)
    return EVP_CipherFinal_ex(pointer, &nothing, &count) == 1 && count == 0
  }
}
