/// What the commands and the daemon say to each other over the runtime directory's socket: one JSON object a line.
public enum AdminProtocol {
  /// The socket's name in the runtime directory.
  public static let socketName = "control.sock"

  public enum Request: Codable, Sendable {
    case status
    case tokenAdd(name: String, allow: [String])
    case tokenList
    case tokenRevoke(name: String)
  }

  /// Either `result` (JSON, as the command prints it) or `error` is there.
  public struct Response: Codable, Sendable {
    public var result: String?
    /// What went wrong and what to do.
    public var error: String?
  }
}

/// `token add --json`.
public struct TokenAdded: Codable, Sendable {
  public var name: String
  /// Shown this once; only its hash is kept.
  public var token: String
  public var allow: [String]
}

/// One row of `token list`.
public struct TokenRow: Codable, Sendable {
  public var name: String
  public var allow: [String]
  /// RFC 3339, UTC.
  public var createdAt: String
  /// The same; nil: never.
  public var lastUsedAt: String?
}
