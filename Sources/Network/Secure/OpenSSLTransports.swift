internal import Dispatch
public import PeerConnection

/// DTLS by OpenSSL and SRTP by libsrtp, for all peers of one identity.
public struct OpenSSLTransports: SecureTransports {
  public let certificateSHA256: [UInt8]
  private let context: DTLSContext
  private let timing: DTLSTiming

  /// - Parameters:
  ///   - identity: The key behind the certificate.
  ///   - certificate: What peers see; HTTPS may show the same one.
  ///   - timing: The handshake's timers; the default is for real time.
  public init(
    identity: NodeIdentity, certificate: NodeCertificate, timing: DTLSTiming = DTLSTiming()
  ) throws(SecureError) {
    self.init(
      context: try DTLSContext(identity: identity, certificate: certificate), sha256: certificate.sha256,
      timing: timing)
    DispatchQueue.global().async { SRTPSession.prepare() }
  }

  init(context: DTLSContext, sha256: [UInt8], timing: DTLSTiming) {
    certificateSHA256 = sha256
    self.context = context
    self.timing = timing
  }

  public func makeDTLS() throws -> any DTLSPort {
    try DTLSConnection(context: context, timing: timing)
  }

  public func makeSRTP(keys: SRTPKeys) throws(SRTPError) -> any SRTPPort {
    try SRTPSession(keys: keys)
  }
}
