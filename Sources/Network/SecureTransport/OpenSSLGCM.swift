internal import COpenSSL
internal import CSRTP

/// AES-128-GCM of OpenSSL in the form in which libsrtp takes ciphers from outside (`srtp_replace_cipher_type`).
///
/// Debian builds libsrtp over NSS, whose AES-GCM sets up the key for each packet. Here a context is made once for a
/// key; a packet only gives it another nonce. libsrtp makes nonces, keys and everything else as before.
enum OpenSSLGCM {
  private struct State {
    let context: OpaquePointer
    let tagLength: Int32
    var isEncrypting = true
  }

  private static let keyLength = 16

  /// Instead of the cipher that libsrtp was built with; call after `srtp_init`, before the first session. libsrtp tests it
  /// first, against its own vectors and the one here.
  static func install() -> srtp_err_status_t {
    srtp_replace_cipher_type(type, srtp_cipher_type_id_t(SRTP_AES_GCM_128))
  }

  /// Never freed: libsrtp keeps the address.
  private nonisolated(unsafe) static let type: UnsafePointer<srtp_cipher_type_t> = {
    let type = UnsafeMutablePointer<srtp_cipher_type_t>.allocate(capacity: 1)
    type.initialize(
      to: srtp_cipher_type_t(
        alloc: { make($0, keyLength: $1, tagLength: $2) }, dealloc: { free($0) }, init: { setKey($0, $1) },
        set_aad: { authenticate($0, $1, $2) }, encrypt: { encrypt($0, $1, $2) }, decrypt: { decrypt($0, $1, $2) },
        set_iv: { setNonce($0, $1, $2) }, get_tag: { getTag($0, $1, $2) },
        description: permanent("AES-128 GCM using OpenSSL".utf8.map { CChar(bitPattern: $0) } + [0]),
        test_data: makeExample(), id: srtp_cipher_type_id_t(SRTP_AES_GCM_128)))
    return UnsafePointer(type)
  }()

  /// RFC 7714 section 16.1.1. libsrtp takes no cipher without an example.
  private static func makeExample() -> UnsafePointer<srtp_cipher_test_case_t> {
    let salt: [UInt8] = [0x51, 0x75, 0x69, 0x64, 0x20, 0x70, 0x72, 0x6f, 0x20, 0x71, 0x75, 0x6f]
    let nonce: [UInt8] = [0x51, 0x75, 0x3c, 0x65, 0x80, 0xc2, 0x72, 0x6f, 0x20, 0x71, 0x84, 0x14]
    let header: [UInt8] = [0x80, 0x40, 0xf1, 0x7b, 0x80, 0x41, 0xf8, 0xd3, 0x55, 0x01, 0xa0, 0xb2]
    let plaintext = Array("Gallia est omnis divisa in partes tres".utf8)
    let ciphertext: [UInt8] = [
      0xf2, 0x4d, 0xe3, 0xa3, 0xfb, 0x34, 0xde, 0x6c, 0xac, 0xba, 0x86, 0x1c, 0x9d, 0x7e, 0x4b, 0xca, 0xbe, 0x63, 0x3b,
      0xd5, 0x0d, 0x29, 0x4e, 0x6f, 0x42, 0xa5, 0xf4, 0x7a, 0x51, 0xc7, 0xd1, 0x9b, 0x36, 0xde, 0x3a, 0xdf, 0x88, 0x33,
    ]
    let tag: [UInt8] = [
      0x89, 0x9d, 0x7f, 0x27, 0xbe, 0xb1, 0x6a, 0x91, 0x52, 0xcf, 0x76, 0x5e, 0xe4, 0x39, 0x0c, 0xce,
    ]
    let key = (0..<UInt8(keyLength)).map { $0 }
    return UnsafePointer(
      permanent([
        srtp_cipher_test_case_t(
          key_length_octets: Int32(key.count + salt.count), key: permanent(key + salt), idx: permanent(nonce),
          plaintext_length_octets: UInt32(plaintext.count), plaintext: permanent(plaintext),
          ciphertext_length_octets: UInt32(ciphertext.count + tag.count), ciphertext: permanent(ciphertext + tag),
          aad_length_octets: Int32(header.count), aad: permanent(header), tag_length_octets: Int32(tag.count),
          next_test_case: nil)
      ]))
  }

  private static func permanent<Element>(_ elements: [Element]) -> UnsafeMutablePointer<Element> {
    let copy = UnsafeMutablePointer<Element>.allocate(capacity: elements.count)
    copy.initialize(from: elements, count: elements.count)
    return copy
  }

  // MARK: What libsrtp calls

  /// - Parameter keyLength: with the salt, of which only libsrtp makes use.
  private static func make(
    _ made: UnsafeMutablePointer<srtp_cipher_pointer_t?>?, keyLength: Int32, tagLength: Int32
  ) -> srtp_err_status_t {
    guard let made, keyLength == SRTP_AES_GCM_128_KEY_LEN_WSALT, (1...16).contains(tagLength) else {
      return srtp_err_status_bad_param
    }
    guard let context = EVP_CIPHER_CTX_new() else { return srtp_err_status_alloc_fail }
    let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
    state.initialize(to: State(context: context, tagLength: tagLength))
    let cipher = UnsafeMutablePointer<srtp_cipher_t>.allocate(capacity: 1)
    cipher.initialize(
      to: srtp_cipher_t(
        type: type, state: state, key_len: keyLength, algorithm: Int32(SRTP_AES_GCM_128)))
    made.pointee = cipher
    return srtp_err_status_ok
  }

  private static func free(_ cipher: srtp_cipher_pointer_t?) -> srtp_err_status_t {
    guard let cipher, let state = state(cipher.pointee.state) else { return srtp_err_status_bad_param }
    // It clears the key.
    EVP_CIPHER_CTX_free(state.pointee.context)
    state.deallocate()
    cipher.deallocate()
    return srtp_err_status_ok
  }

  private static func setKey(_ raw: UnsafeMutableRawPointer?, _ key: UnsafePointer<UInt8>?) -> srtp_err_status_t {
    guard let state = state(raw), let key else { return srtp_err_status_bad_param }
    // Of AES-GCM both directions have the same key schedule.
    let done = EVP_CipherInit_ex(state.pointee.context, EVP_aes_128_gcm(), nil, key, nil, 1) == 1
    return done ? srtp_err_status_ok : srtp_err_status_init_fail
  }

  private static func setNonce(
    _ raw: UnsafeMutableRawPointer?, _ nonce: UnsafeMutablePointer<UInt8>?, _ direction: srtp_cipher_direction_t
  ) -> srtp_err_status_t {
    guard let state = state(raw), let nonce, direction != srtp_direction_any else { return srtp_err_status_bad_param }
    state.pointee.isEncrypting = direction == srtp_direction_encrypt
    let done = EVP_CipherInit_ex(state.pointee.context, nil, nil, nil, nonce, state.pointee.isEncrypting ? 1 : 0) == 1
    return done ? srtp_err_status_ok : srtp_err_status_init_fail
  }

  private static func authenticate(
    _ raw: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>?, _ count: UInt32
  ) -> srtp_err_status_t {
    guard let state = state(raw), let bytes, let count = Int32(exactly: count) else { return srtp_err_status_bad_param }
    var done: Int32 = 0
    return EVP_CipherUpdate(state.pointee.context, nil, &done, bytes, count) == 1
      ? srtp_err_status_ok : srtp_err_status_algo_fail
  }

  /// In place; the tag is asked for afterwards.
  private static func encrypt(
    _ raw: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UInt8>?, _ length: UnsafeMutablePointer<UInt32>?
  ) -> srtp_err_status_t {
    guard let state = state(raw), state.pointee.isEncrypting, let length,
      let count = Int32(exactly: length.pointee)
    else { return srtp_err_status_bad_param }
    return process(state.pointee.context, buffer, count: count) ? srtp_err_status_ok : srtp_err_status_cipher_fail
  }

  /// In place.
  /// - Parameter length: with the tag at the end; without it on return.
  private static func decrypt(
    _ raw: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UInt8>?, _ length: UnsafeMutablePointer<UInt32>?
  ) -> srtp_err_status_t {
    guard let state = state(raw), !state.pointee.isEncrypting, let buffer, let length,
      let total = Int32(exactly: length.pointee), total >= state.pointee.tagLength
    else { return srtp_err_status_bad_param }
    let count = total - state.pointee.tagLength
    let context = state.pointee.context
    guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, state.pointee.tagLength, buffer + Int(count)) == 1 else {
      return srtp_err_status_algo_fail
    }
    guard process(context, buffer, count: count) else { return srtp_err_status_auth_fail }
    length.pointee = UInt32(count)
    return srtp_err_status_ok
  }

  private static func getTag(
    _ raw: UnsafeMutableRawPointer?, _ tag: UnsafeMutablePointer<UInt8>?, _ length: UnsafeMutablePointer<UInt32>?
  ) -> srtp_err_status_t {
    guard let state = state(raw), let tag, let length else { return srtp_err_status_bad_param }
    let count = state.pointee.tagLength
    guard EVP_CIPHER_CTX_ctrl(state.pointee.context, EVP_CTRL_AEAD_GET_TAG, count, tag) == 1 else {
      return srtp_err_status_algo_fail
    }
    length.pointee = UInt32(count)
    return srtp_err_status_ok
  }

  /// To the end of the message; when decrypting, whether the tag is right. SRTCP without encryption has no buffer.
  private static func process(_ context: OpaquePointer, _ buffer: UnsafeMutablePointer<UInt8>?, count: Int32) -> Bool {
    var done: Int32 = 0
    guard count == 0 || EVP_CipherUpdate(context, buffer, &done, buffer, count) == 1 else { return false }
    // Of this mode nothing comes with the end.
    var nothing: UInt8 = 0
    return EVP_CipherFinal_ex(context, &nothing, &done) == 1
  }

  private static func state(_ raw: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<State>? {
    raw?.assumingMemoryBound(to: State.self)
  }
}
