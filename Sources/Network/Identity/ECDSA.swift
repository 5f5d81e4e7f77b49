internal import COpenSSL
internal import SecureTransport

/// ECDSA on P-256 with SHA-256 (FIPS 186-5). Signatures are r and s, 32 bytes each, as in RFC 7518 section 3.4.
enum ECDSA {
  static let signatureBytes = 64

  /// Precedes the uncompressed point, which begins with 4: id-ecPublicKey on prime256v1. RFC 5480 section 2.
  private static let spkiPrefix: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
  ]

  static func sign(_ message: [UInt8], with key: PrivateKey) -> [UInt8] {
    let context = DigestContext()
    let der = key.withPointer { key in
      [UInt8](unsafeUninitializedCapacity: Int(EVP_PKEY_get_size(key))) { buffer, count in
        count = buffer.count
        let done =
          EVP_DigestSignInit(context.pointer, nil, EVP_sha256(), nil, key) == 1
          && EVP_DigestSign(context.pointer, buffer.baseAddress, &count, message, message.count) == 1
        precondition(done, "a key on P-256 signs any message: \(OpenSSLQueue.takeReason())")
      }
    }
    guard let numbers = SignatureNumbers(der: der) else { preconditionFailure("OpenSSL reads its own signature") }
    return numbers.bytes
  }

  /// False also when `publicKey` is not a P-256 point as DER SubjectPublicKeyInfo in uncompressed form: in another
  /// encoding the same key would have a different id.
  static func isSignature(_ signature: [UInt8], over message: [UInt8], by publicKey: [UInt8]) -> Bool {
    guard signature.count == signatureBytes, publicKey.count == spkiPrefix.count + 64,
      publicKey.starts(with: spkiPrefix), let key = PublicKeyHandle(spki: publicKey),
      let der = SignatureNumbers(signature)?.der
    else {
      OpenSSLQueue.clear()
      return false
    }
    defer { OpenSSLQueue.clear() }
    let context = DigestContext()
    guard EVP_DigestVerifyInit(context.pointer, nil, EVP_sha256(), nil, key.pointer) == 1 else { return false }
    return EVP_DigestVerify(context.pointer, der, der.count, message, message.count) == 1
  }
}

/// Owns an `EVP_MD_CTX`.
private struct DigestContext: ~Copyable {
  let pointer: OpaquePointer

  init() {
    guard let pointer = EVP_MD_CTX_new() else { preconditionFailure("memory for a digest") }
    self.pointer = pointer
  }

  deinit {
    EVP_MD_CTX_free(pointer)
  }
}

/// Owns an `EVP_PKEY` that holds a public key.
private struct PublicKeyHandle: ~Copyable {
  let pointer: OpaquePointer

  /// Nil when the bytes are not a key, or its point is not on the curve.
  init?(spki: [UInt8]) {
    let pointer = spki.withUnsafeBufferPointer { buffer in
      var position = buffer.baseAddress
      return d2i_PUBKEY(nil, &position, buffer.count)
    }
    guard let pointer else { return nil }
    self.pointer = pointer
  }

  deinit {
    EVP_PKEY_free(pointer)
  }
}

/// Owns an `ECDSA_SIG`: r and s.
private struct SignatureNumbers: ~Copyable {
  let pointer: OpaquePointer

  /// From r and s of 32 bytes each.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == ECDSA.signatureBytes, let pointer = ECDSA_SIG_new() else { return nil }
    let (r, s) = (BN_bin2bn(Array(bytes[..<32]), 32, nil), BN_bin2bn(Array(bytes[32...]), 32, nil))
    // On success the signature owns both.
    guard ECDSA_SIG_set0(pointer, r, s) == 1 else {
      BN_free(r)
      BN_free(s)
      ECDSA_SIG_free(pointer)
      return nil
    }
    self.pointer = pointer
  }

  init?(der: [UInt8]) {
    let pointer = der.withUnsafeBufferPointer { buffer in
      var position = buffer.baseAddress
      return d2i_ECDSA_SIG(nil, &position, buffer.count)
    }
    guard let pointer else { return nil }
    self.pointer = pointer
  }

  deinit {
    ECDSA_SIG_free(pointer)
  }

  var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: ECDSA.signatureBytes) { buffer, count in
      let padded =
        BN_bn2binpad(ECDSA_SIG_get0_r(pointer), buffer.baseAddress, 32) == 32
        && BN_bn2binpad(ECDSA_SIG_get0_s(pointer), buffer.baseAddress.map { $0 + 32 }, 32) == 32
      precondition(padded, "r and s are below the order of P-256")
      count = buffer.count
    }
  }

  /// Nil if out of memory.
  var der: [UInt8]? {
    let count = i2d_ECDSA_SIG(pointer, nil)
    guard count > 0 else { return nil }
    return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
      var position = buffer.baseAddress
      initialized = Int(max(0, i2d_ECDSA_SIG(pointer, &position)))
    }
  }
}
