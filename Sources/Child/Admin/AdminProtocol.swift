/// What the commands and the daemon say to each other over the runtime directory's socket: one JSON object a line.
public enum AdminProtocol {
  /// The socket's name in the runtime directory.
  public static let socketName = "control.sock"
  /// The longest line, in bytes.
  public static let maximumBytes = 1 << 20

  public enum Request: Codable, Sendable {
    case status
    case tokenAdd(name: String, allow: [String])
    case tokenList
    case tokenRevoke(name: String)
    /// Opens the pairing window: `PairingOpened`.
    case pairOpen
    /// Answers when the window closes: `PairingEnded`.
    case pairWait
    case pairClose
    /// `PairList`
    case pairs
    /// By id or name; nil: all. Those that were removed, as `PairList`.
    case unpair(String?)
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

/// `pair --json`, at first.
public struct PairingOpened: Codable, Sendable {
  /// `1234-5678`
  public var code: String
  /// `https://HOST/#pair=SECRET`
  public var link: String
  /// RFC 3339, UTC.
  public var expiresAt: String
}

/// `pair --json`, at the end.
public struct PairingEnded: Codable, Sendable {
  public var paired: Parent?
  /// Why nobody has paired.
  public var reason: String?

  public struct Parent: Codable, Sendable {
    public var id: String
    public var name: String
    /// The parent shows the same.
    public var words: String
  }
}

/// `pairs --json`. Dates are RFC 3339, UTC.
public struct PairList: Codable, Sendable {
  public var pairs: [Row]

  public struct Row: Codable, Sendable {
    public var id: String
    public var name: String
    public var permissions: [String]
    public var createdAt: String
    public var lastSeenAt: String?
    public var expiresAt: String?
  }
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
