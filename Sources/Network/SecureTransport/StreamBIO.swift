internal import COpenSSL

/// The BIO of one TLS connection, and what OpenSSL's callbacks leave for its owner.
final class StreamBIO {
  /// Messages of the handshake protocol that a peer may send after the handshake: tickets, new keys, renegotiation.
  /// OpenSSL answers some of them at once and has no limit; a peer that means well sends a handful in a year.
  static let maximumLateMessages = 100

  /// What is to be read, valid while `read(_:_:)` runs.
  private var incoming = UnsafeRawBufferPointer(start: nil, count: 0)
  /// Ciphertext for the network.
  private var outgoing: [UInt8] = []
  private let trust: TLSTrust?
  /// Whether handshake messages count as late.
  var isEstablished = false
  private var lateMessages = 0
  /// A certificate that was not accepted.
  private(set) var refusal: TLSFailure?

  init(trust: TLSTrust?) {
    self.trust = trust
  }

  var isFlooded: Bool { lateMessages > Self.maximumLateMessages }

  /// Runs OpenSSL over `bytes`. It reads all of them unless it fails or the peer has said goodbye.
  func read(_ bytes: UnsafeRawBufferPointer, _ body: () -> Void) {
    incoming = bytes
    body()
    incoming = UnsafeRawBufferPointer(start: nil, count: 0)
  }

  func takeOutgoing() -> [UInt8] {
    defer { outgoing = [] }
    return outgoing
  }

  /// Creates the BIO and passes it to `ssl`, which frees it. False if out of memory.
  func attach(to ssl: OpaquePointer) -> Bool {
    guard let method = Self.method.pointer, let bio = BIO_new(method) else { return false }
    BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
    BIO_set_init(bio, 1)
    SSL_set_bio(ssl, bio, bio)
    SSL_set_msg_callback(ssl) { isOurs, _, type, _, _, ssl, _ in
      guard isOurs == 0, type == SSL3_RT_HANDSHAKE, let owner = StreamBIO.of(SSL_get_rbio(ssl)) else { return }
      if owner.isEstablished { owner.lateMessages += 1 }
    }
    return true
  }

  private static func of(_ bio: OpaquePointer?) -> StreamBIO? {
    BIO_get_data(bio).map { Unmanaged<StreamBIO>.fromOpaque($0).takeUnretainedValue() }
  }

  // MARK: - The server's certificate

  /// OpenSSL's question about a server's certificate, during the handshake: 1 when the client accepts it.
  static func verifyCertificate(_ store: OpaquePointer?) -> Int32 {
    guard let store, let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
      let owner = of(SSL_get_rbio(OpaquePointer(ssl)))
    else { return 0 }
    return owner.verify(store)
  }

  private func verify(_ store: OpaquePointer) -> Int32 {
    guard let trust, let leaf = X509_STORE_CTX_get0_cert(store) else { return 0 }
    X509_up_ref(leaf)
    let certificate = CertificateHandle(adopting: leaf)
    let sha256 = certificate.sha256()
    switch trust {
    case .system, .authorities:
      if X509_verify_cert(store) == 1 { return 1 }
      let reason = X509_verify_cert_error_string(Int(X509_STORE_CTX_get_error(store)))
      refusal = .certificateRefused(sha256: sha256, reason: reason.map { String(cString: $0) } ?? "not verified")
    case .judged(let accepts):
      if let keySHA256 = certificate.keySHA256(),
        accepts(TLSCertificate(sha256: sha256, keySHA256: keySHA256))
      {
        X509_STORE_CTX_set_error(store, X509_V_OK)
        return 1
      }
      refusal = .certificateRefused(sha256: sha256, reason: "not the expected one")
      // Decides the alert: bad_certificate.
      X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_UNTRUSTED)
    }
    return 0
  }

  // MARK: - The function table

  /// One for the life of the process.
  private static let method = Method()

  private struct Method: @unchecked Sendable {
    // Written once here and only read by OpenSSL from then on.
    let pointer: OpaquePointer?

    init() {
      pointer = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stream")
      BIO_meth_set_write(pointer) { bio, bytes, count in
        copenssl_bio_clear_retry(bio)
        guard let owner = StreamBIO.of(bio), let bytes, count > 0 else { return -1 }
        owner.outgoing.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        return count
      }
      BIO_meth_set_read(pointer) { bio, bytes, capacity in
        copenssl_bio_clear_retry(bio)
        guard let owner = StreamBIO.of(bio), let bytes, capacity > 0, !owner.isFlooded else { return -1 }
        let count = min(Int(capacity), owner.incoming.count)
        guard count > 0 else {
          copenssl_bio_set_retry_read(bio)
          return -1
        }
        let piece = owner.incoming.prefix(count)
        UnsafeMutableRawBufferPointer(start: bytes, count: count).copyMemory(
          from: UnsafeRawBufferPointer(rebasing: piece))
        owner.incoming = UnsafeRawBufferPointer(rebasing: owner.incoming.dropFirst(count))
        return Int32(count)
      }
      BIO_meth_set_ctrl(pointer) { _, command, _, _ in
        // Flushing always succeeds; the end of the stream is the owner's to tell.
        command == BIO_CTRL_FLUSH ? 1 : 0
      }
    }
  }
}
