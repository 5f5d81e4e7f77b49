public import NIOSSL

extension TLSConfiguration {
  /// Allows TLS 1.3, and TLS 1.2 only with ephemeral keys and AEAD: no RSA key exchange, with which a stolen key
  /// decrypts recorded traffic, and no CBC. RFC 9325 sections 3.1.1, 4.1 and 4.2.
  public mutating func restrictToForwardSecrecy() {
    minimumTLSVersion = .tlsv12
    // TLS 1.3 has only suites of this kind.
    cipherSuiteValues = [
      .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
      .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
      .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    ]
  }
}
