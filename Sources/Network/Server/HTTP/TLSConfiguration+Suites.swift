public import NIOSSL

extension TLSConfiguration {
  /// Takes TLS 1.3, and TLS 1.2 with ephemeral keys and authenticated encryption alone: no RSA key exchange, whose
  /// recordings a stolen key opens, and no CBC. RFC 9325 sections 3.1.1, 4.1 and 4.2.
  public mutating func restrictToForwardSecrecy() {
    minimumTLSVersion = .tlsv12
    // TLS 1.3 has no other kind of suite.
    cipherSuiteValues = [
      .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
      .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
      .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    ]
  }
}
