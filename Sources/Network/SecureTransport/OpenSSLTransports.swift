public import PeerConnection

/// DTLS by OpenSSL and SRTP by libsrtp, for all peers that are presented with one certificate.
public struct OpenSSLTransports: SecureTransports {
  public let certificateSHA256: [UInt8]
  private let context: DTLSContext
  private let timer: any OpenSSLTimer

  /// With a key and a certificate of its own, known to nobody: peers trust it by the `a=fingerprint` of a description.
  ///
  /// - Throws: `SecureError.openSSL` when OpenSSL refuses to make one.
  public init() throws(SecureError) {
    let key = PrivateKey.generate()
    try self.init(key: key, certificate: Certificate(key: key))
  }

  /// - Parameters:
  ///   - key: The key behind the certificate.
  ///   - certificate: The certificate presented to peers; HTTPS may present the same one.
  /// - Throws: `SecureError.openSSL` when the certificate does not belong to the key.
  public init(key: PrivateKey, certificate: Certificate) throws(SecureError) {
    try self.init(key: key, certificate: certificate, timer: WallClockTimer())
  }

  /// With a clock other than the wall clock behind the handshake's `now`.
  package init(key: PrivateKey, certificate: Certificate, timer: any OpenSSLTimer) throws(SecureError) {
    self.init(
      context: try DTLSContext(key: key, certificate: certificate), sha256: certificate.sha256, timer: timer)
  }

  init(context: DTLSContext, sha256: [UInt8], timer: any OpenSSLTimer) {
    certificateSHA256 = sha256
    self.context = context
    self.timer = timer
  }

  /// Initialises libsrtp and runs its self-tests: about 20 ms of processor time that the first peer would otherwise
  /// wait for. Call it once, on any thread.
  public static func prepare() {
    SRTPSession.prepare()
  }

  public func makeDTLS() throws -> any DTLSPort {
    try DTLSConnection(context: context, timer: timer)
  }

  public func makeSRTP(keys: SRTPKeys) throws(SRTPError) -> any SRTPPort {
    try SRTPSession(keys: keys)
  }
}
