internal import JSON
internal import Messages

/// The protocol between commands and daemon on the runtime directory's socket: one JSON object per line.
public enum AdminProtocol {
  /// The socket's name in the runtime directory.
  public static let socketName = "control.sock"
  /// The longest line, in bytes.
  public static let maximumBytes = 1 << 20

  /// Reads what one end has sent the other. Numbers are possible ones (`JSON.checkNumbers`).
  public static func decode<Value: Decodable>(_: Value.Type, from line: [UInt8]) throws -> Value {
    let json = try JSON(line, maximumBytes: maximumBytes)
    try json.checkNumbers()
    return try json.decode(Value.self)
  }

  public enum Request: Codable, Sendable {
    case status
    /// `seconds`: its lifetime; nil: until it is revoked. `TokenAdded`.
    case tokenAdd(name: String, allow: [String], seconds: Int?)
    case tokenList
    case tokenRevoke(name: String)
    /// Opens the pairing window: `PairingOpened`. `admin`: whether the new parent gets `admin` too.
    case pairOpen(admin: Bool, recordings: Bool)
    /// Answers when the window closes: `PairingEnded`.
    case pairWait
    case pairClose
    /// `PairList`
    case pairs
    /// By id or name; nil: all, along with every invitation and the window. The removed ones, as `PairList`.
    case unpair(String?)
    /// `InviteList`
    case invites
    /// By id; nil: all. The ended ones, as `InviteList`.
    case inviteRevoke(String?)
    /// By name; nil: all. Answers when every test message has been delivered or not: `NotifyTests`.
    case notifyTest(String?)
    /// `RecordingList`
    case recordings
    /// Begins or ends a recording by hand: `RecordingList`.
    case record(Bool)
    /// `AwayReport`
    case away
    /// Makes a new root certificate first, if so: `CertificateReport`.
    case certificate(renew: Bool)
  }

  /// Has either `result` (JSON, as the command prints it) or `error`.
  public struct Response: Codable, Sendable {
    public var result: String?
    /// What went wrong and how to fix it.
    public var error: String?
  }
}

/// `recordings --json`.
public struct RecordingList: Codable, Sendable {
  /// `off`, `events` or `always`, as configured.
  public var mode: String
  /// `idle`, `recording` or `paused`.
  public var state: String
  /// Why nothing is recorded.
  public var reason: String?
  /// Where the parts are; nil when there is none.
  public var folder: String?
  /// Oldest first.
  public var recordings: [Row]

  public struct Row: Codable, Sendable {
    /// The file's name without `.webm`.
    public var id: String
    /// When it begins: RFC 3339, UTC.
    public var time: String
    public var bytes: Int
  }
}

/// `notify --test --json`.
public struct NotifyTests: Codable, Sendable {
  public var tests: [Row]

  public struct Row: Codable, Sendable {
    /// The notifier's.
    public var name: String
    public var delivered: Bool
    /// What came of it, for people.
    public var detail: String
    public var milliseconds: Int
  }
}

/// `token add --json`.
public struct TokenAdded: Codable, Sendable {
  public var name: String
  /// Shown only once; only its hash is stored.
  public var token: String
  public var allow: [String]
  /// RFC 3339, UTC; nil: never.
  public var expiresAt: String?
}

/// `certificate --json`: what browsers are shown at the HTTPS port. Dates are RFC 3339, UTC.
public struct CertificateReport: Codable, Sendable {
  /// The configured one; nil: it is of the node's own.
  public var file: String?
  /// What phones can install; nil with a configured certificate.
  public var root: Root?
  /// The present names and addresses of this machine.
  public var hosts: [String]
  public var validFrom: String?
  public var validUntil: String?

  public struct Root: Codable, Sendable {
    /// SHA-256, `AB:CD:…`
    public var fingerprint: String
    /// What it may vouch for.
    public var hosts: [String]
    /// Present names and addresses that it may not vouch for: a phone that has it installed warns there.
    public var missing: [String]
  }
}

/// `pair --json`, when the window opens.
public struct PairingOpened: Codable, Sendable {
  /// `1234-5678`
  public var code: String
  /// `https://HOST/#pair=SECRET`
  public var link: String
  /// The same at each address that leads here, `link` first: more than one where the machine is in several networks.
  public var links: [String]
  /// RFC 3339, UTC.
  public var expiresAt: String
  /// What a parent that pairs may do.
  public var allow: [String]
  /// Why the links work on this machine alone; left out where they do not.
  public var problem: String?
  /// Whether somebody has `admin` and uses it; nil from a daemon of an earlier version.
  public var hasOwner: Bool?
}

/// `pair --json`, when the window closes.
public struct PairingEnded: Codable, Sendable {
  public var paired: Parent?
  /// Why nobody has paired.
  public var reason: String?

  public struct Parent: Codable, Sendable {
    public var id: String
    public var name: String
    /// The parent shows the same words.
    public var words: String
  }
}

/// `pairs --json`. Dates are RFC 3339, UTC.
public struct PairList: Codable, Sendable {
  public var pairs: [Row]
  /// Whether somebody has `admin` and uses it; nil where it was not asked, or from a daemon of an earlier version.
  public var hasOwner: Bool?

  public struct Row: Codable, Sendable {
    public var id: String
    public var name: String
    public var permissions: [String]
    public var createdAt: String
    public var lastSeenAt: String?
    public var expiresAt: String?
    /// The parent has confirmed the check words, or has been seen since; nil from a daemon of an earlier version.
    public var isCompleted: Bool?
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
  /// It has expired; nothing can use it any more.
  public var isExpired: Bool
}

/// `invites --json`: everything that currently lets a parent pair. Dates are RFC 3339, UTC.
public struct InviteList: Codable, Sendable {
  public var invites: [Row]

  public struct Row: Codable, Sendable {
    /// The id of the pairing window, which has a row like an invitation while it is open.
    public static let windowID = "window"

    /// 8 hexadecimal digits, or `windowID`.
    public var id: String
    /// The guest's name; nil: the guest chooses it.
    public var name: String?
    public var allow: [String]
    /// The id of the parent that issued it; nil: the administrator of this machine.
    public var issuer: String?
    /// That parent's name.
    public var issuerName: String?
    /// When the link or code expires.
    public var expiresAt: String
    /// When the access it grants ends; nil: never.
    public var accessExpiresAt: String?
  }
}
