/// Why the node could not start. Each error says what to do.
public enum NodeError: Error, CustomStringConvertible, Sendable {
  case cannotBind(what: String, reason: String)
  case runtimeDirectory(path: String, reason: String)
  case identity(path: String, reason: String)
  case tls(String)
  case rootCertificate(path: String, reason: String)

  public var description: String {
    switch self {
    case .cannotBind(let what, let reason):
      "cannot listen on \(what): \(reason). Is another cradle-child running, or the address wrong?"
    case .runtimeDirectory(let path, let reason):
      "cannot use the runtime directory \(path): \(reason). Choose another with --runtime-directory."
    case .identity(let path, let reason):
      "cannot use the identity key \(path): \(reason). It is kept as it is; restore it from a backup, or move it away "
        + "to begin with a new identity (every device must pair again then)."
    case .tls(let reason):
      "cannot use the configured certificate (tls): \(reason)"
    case .rootCertificate(let path, let reason):
      "cannot use the root certificate \(path): \(reason). It is kept as it is; restore it from a backup, or move it "
        + "away for a new one (phones on which the old one is installed need the new one then)."
    }
  }
}
