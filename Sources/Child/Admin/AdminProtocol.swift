/// What the commands and the daemon say to each other over the runtime directory's socket: one JSON object a line.
public enum AdminProtocol {
  /// The socket's name in the runtime directory.
  public static let socketName = "control.sock"
  /// The longest line, in bytes.
  public static let maximumBytes = 1 << 20

  public enum Request: Codable, Sendable {
    case status
    /// `seconds`: how long it is good; nil: until it is revoked. `TokenAdded`.
    case tokenAdd(name: String, allow: [String], seconds: Int?)
    case tokenList
    case tokenRevoke(name: String)
    /// Opens the pairing window: `PairingOpened`. `admin`: whoever pairs may administer the child, too.
    case pairOpen(admin: Bool)
    /// Answers when the window closes: `PairingEnded`.
    case pairWait
    case pairClose
    /// `PairList`
    case pairs
    /// By id or name; nil: all, and every invitation and the window with them. Those that were removed, as `PairList`.
    case unpair(String?)
    /// `InviteList`
    case invites
    /// By id; nil: all. Those that were ended, as `InviteList`.
    case inviteRevoke(String?)
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
  /// RFC 3339, UTC; nil: never.
  public var expiresAt: String?
}

/// `pair --json`, at first.
public struct PairingOpened: Codable, Sendable {
  /// `1234-5678`
  public var code: String
  /// `https://HOST/#pair=SECRET`
  public var link: String
  /// RFC 3339, UTC.
  public var expiresAt: String
  /// What whoever pairs may do.
  public var allow: [String]
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
  /// The same; nil: never.
  public var expiresAt: String?
  /// Its time is over; nothing uses it any more.
  public var isExpired: Bool
}

/// `invites --json`: every way in that is open now. Dates are RFC 3339, UTC.
public struct InviteList: Codable, Sendable {
  public var invites: [Row]

  public struct Row: Codable, Sendable {
    /// The id of the pairing window, which has a row like any invitation while it is open.
    public static let windowID = "window"

    /// 8 hexadecimal digits, or `windowID`.
    public var id: String
    /// What the guest will be called; nil: what it calls itself.
    public var name: String?
    public var allow: [String]
    /// The id of the parent that made it; nil: the administrator of this machine.
    public var issuer: String?
    /// That parent's name.
    public var issuerName: String?
    /// When its link or code is refused.
    public var expiresAt: String
    /// When the access that it gives ends; nil: never.
    public var accessExpiresAt: String?
  }
}
