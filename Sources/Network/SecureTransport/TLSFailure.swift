/// Why a TLS connection ended other than by its orderly end.
public enum TLSFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The peer's first bytes are not a TLS record. RFC 8446 section 5.1.
  case notTLS
  /// The client does not accept the server's certificate. SHA-256 over its DER, 32 bytes; `reason` is OpenSSL's text,
  /// such as “certificate has expired”.
  case certificateRefused(sha256: [UInt8], reason: String)
  /// The connection ended before the handshake did.
  case endedDuringHandshake
  /// The connection ended without a close_notify: what was received may be incomplete. RFC 8446 section 6.1.
  case truncated
  /// An alert of the peer, or bytes that break the protocol; the text is OpenSSL's.
  case failed(String)

  public var description: String {
    switch self {
    case .notTLS: "the other side does not speak TLS"
    case .certificateRefused(_, let reason): "the certificate is not trusted: \(reason)"
    case .endedDuringHandshake: "the connection ended during the handshake"
    case .truncated: "the connection ended without a goodbye"
    case .failed(let reason): reason
    }
  }
}
