internal import COpenSSL

/// A failure of OpenSSL, or invalid input for it.
public enum SecureError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text is not a PEM private key on P-256.
  case malformedKey(String)
  /// The text is not a certificate in PEM.
  case malformedCertificate(String)
  /// A name that is not allowed in a certificate.
  case invalidName(String)
  /// A file with a certificate or key that cannot be used.
  case file(path: String, reason: String)
  /// OpenSSL failed; `operation` is the function, `reason` OpenSSL's own text.
  case openSSL(operation: String, reason: String)

  public var description: String {
    switch self {
    case .malformedKey(let reason): "not a P-256 private key in PEM: \(reason)"
    case .malformedCertificate(let reason): "not a certificate in PEM: \(reason)"
    case .invalidName(let name): "“\(name)” is not a host name"
    case .file(let path, let reason): "\(path): \(reason)"
    case .openSSL(let operation, let reason): "\(operation): \(reason)"
    }
  }
}

/// The calling thread's queue of OpenSSL errors. It must be empty before each TLS call, or `SSL_get_error` blames that
/// call for an older failure.
package enum OpenSSLQueue {
  package static func clear() {
    ERR_clear_error()
  }

  /// Empties the queue and returns the reason of the last error.
  package static func takeReason() -> String {
    var reason = ""
    while true {
      let code = ERR_get_error()
      guard code != 0 else { return reason.isEmpty ? "no reason given" : reason }
      if let text = ERR_reason_error_string(code) { reason = String(cString: text) }
    }
  }

  /// Empties the queue and returns the reason of the first error: where it began. OpenSSL 3.2 adds general ones.
  static func takeFirstReason() -> String? {
    var first: String?
    while true {
      let code = ERR_get_error()
      guard code != 0 else { return first }
      if first == nil, let text = ERR_reason_error_string(code) { first = String(cString: text) }
    }
  }

  static func error(_ operation: String) -> SecureError {
    .openSSL(operation: operation, reason: takeReason())
  }
}
