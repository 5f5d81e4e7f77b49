internal import COpenSSL

/// State shared by all DTLS associations of one certificate: certificate, key, ciphers. Owns an `SSL_CTX`.
final class DTLSContext: Sendable {
  // An SSL_CTX is reference-counted and locks internally; nothing changes it after init.
  nonisolated(unsafe) let pointer: OpaquePointer

  /// ECDHE only. Our own certificate is ECDSA (RFC 8827 section 6.5); the RSA suites are for servers that still
  /// present RSA, such as GStreamer's webrtcbin.
  static let cipherSuites = [
    "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256",
    "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
    "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
  ]
  /// `SRTPProfile` under OpenSSL's names, in the same order of preference.
  static let srtpProfiles = ["SRTP_AEAD_AES_128_GCM", "SRTP_AES128_CM_SHA1_80"]

  init(
    key: PrivateKey, certificate: Certificate, cipherSuites: [String] = DTLSContext.cipherSuites,
    srtpProfiles: [String] = DTLSContext.srtpProfiles, version: Int32 = DTLS1_2_VERSION,
    presentsCertificate: Bool = true
  ) throws(SecureError) {
    OpenSSLQueue.clear()
    guard let context = SSL_CTX_new(DTLS_method()) else { throw OpenSSLQueue.error("SSL_CTX_new") }
    // From here on, deinit frees it, even if something below throws.
    pointer = context
    func check(_ ok: Bool, _ operation: String) throws(SecureError) {
      guard ok else { throw OpenSSLQueue.error(operation) }
    }
    try check(copenssl_set_only_version(context, version) == 1, "protocol version")
    SSL_CTX_set_options(context, copenssl_dtls_options())
    copenssl_disable_session_cache(context)
    SSL_CTX_set_security_level(context, version == DTLS1_2_VERSION ? 2 : 0)
    try check(SSL_CTX_set_cipher_list(context, cipherSuites.joined(separator: ":")) == 1, "cipher suites")
    try check(copenssl_set_groups(context, "P-256:X25519") == 1, "groups")
    if presentsCertificate {
      let x509 = try CertificateHandle(der: certificate.der)
      try check(SSL_CTX_use_certificate(context, x509.pointer) == 1, "SSL_CTX_use_certificate")
      let used = key.withPointer { SSL_CTX_use_PrivateKey(context, $0) }
      try check(used == 1, "SSL_CTX_use_PrivateKey")
    }
    if !srtpProfiles.isEmpty {
      // Unlike its siblings, this function returns 0 on success.
      try check(
        SSL_CTX_set_tlsext_use_srtp(context, srtpProfiles.joined(separator: ":")) == 0, "SRTP profiles")
    }
    // Both sides present a certificate. The handshake proves possession of its key, and the signalled fingerprint,
    // which the caller compares, proves whose it is. There is no chain to verify. RFC 8827 section 6.5.
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    SSL_CTX_set_cert_verify_callback(context, { _, _ in 1 }, nil)
  }

  deinit {
    SSL_CTX_free(pointer)
  }
}

/// Owns an `SSL` and the BIO that it reads and writes.
struct SSLHandle: ~Copyable {
  let pointer: OpaquePointer
  /// Freed after deinit's body, so it outlives the callbacks.
  let datagrams: DatagramBIO

  init(context: DTLSContext, timer: any OpenSSLTimer, mtu: Int) throws(SecureError) {
    OpenSSLQueue.clear()
    guard let ssl = SSL_new(context.pointer) else { throw OpenSSLQueue.error("SSL_new") }
    let datagrams = DatagramBIO(timer: timer)
    guard datagrams.attach(to: ssl) else {
      SSL_free(ssl)
      throw OpenSSLQueue.error("BIO_new")
    }
    copenssl_set_mtu(ssl, mtu)
    self.pointer = ssl
    self.datagrams = datagrams
  }

  deinit {
    SSL_free(pointer)
  }
}
