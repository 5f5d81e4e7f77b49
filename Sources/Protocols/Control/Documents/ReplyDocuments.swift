/// `status.get`: the members of the complete state, plus the identity of the child.
public struct StatusDocument: Hashable, Sendable {
  public var name: String
  /// 16 hexadecimal digits.
  public var id: String
  public var version: String
  public var time: Double
  public var uptimeSeconds: Double
  /// What is wrong now, for people.
  public var alarms: [String]
  public var state: StateDocument

  public init(
    name: String, id: String, version: String, time: Double, uptimeSeconds: Double, alarms: [String],
    state: StateDocument
  ) {
    self.name = name
    self.id = id
    self.version = version
    self.time = time
    self.uptimeSeconds = uptimeSeconds
    self.alarms = alarms
    self.state = state
  }
}

// The members of the state are inlined, not nested.
extension StatusDocument: ControlReply {
  public var shortened: StatusDocument? {
    guard let fewer = state.shortened else { return nil }
    var status = self
    status.state = fewer
    return status
  }

  private enum CodingKeys: String, CodingKey {
    case name, id, version, time, uptimeSeconds, alarms
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    id = try container.decode(String.self, forKey: .id)
    version = try container.decode(String.self, forKey: .version)
    time = try container.decode(Double.self, forKey: .time)
    uptimeSeconds = try container.decode(Double.self, forKey: .uptimeSeconds)
    alarms = try container.decode([String].self, forKey: .alarms)
    state = try StateDocument(from: decoder)
  }

  public func encode(to encoder: any Encoder) throws {
    try state.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(id, forKey: .id)
    try container.encode(version, forKey: .version)
    try container.encode(time, forKey: .time)
    try container.encode(uptimeSeconds, forKey: .uptimeSeconds)
    try container.encode(alarms, forKey: .alarms)
  }
}

/// `screenshot.take` and `recordings.read`: describes the binary messages that follow the reply.
public struct TransferDocument: ControlReply {
  /// Transfer number, which precedes each piece.
  public var transfer: UInt32
  /// Total number of bytes.
  public var size: Int
  /// Media type.
  public var type: String
  /// Pixels of a still; else 0.
  public var width: Int
  public var height: Int
  /// Of a recording: bytes of the whole part, of which this is a piece.
  public var total: Int?

  public init(transfer: UInt32, size: Int, type: String, width: Int = 0, height: Int = 0, total: Int? = nil) {
    self.total = total
    self.transfer = transfer
    self.size = size
    self.type = type
    self.width = width
    self.height = height
  }
}

/// `pairing.open`
public struct PairingDocument: ControlReply {
  public static let member: String? = "pairing"

  public var code: String
  public var link: String
  public var expiresAt: Double
  /// Names of the permissions that the new parent gets.
  public var allow: [String]
  /// The link as a QR code: one string a row, `1` for dark. Left out by older children.
  public var qr: [String]?

  public init(code: String, link: String, expiresAt: Double, allow: [String], qr: [String]? = nil) {
    self.qr = qr
    self.code = code
    self.link = link
    self.expiresAt = expiresAt
    self.allow = allow
  }
}

/// An element of the reply to `pairs.list`. Permissions by name.
public struct PairDocument: ListedDocument {
  public static let listMember = "pairs"

  public var id: String
  public var name: String
  public var permissions: [String]
  public var createdAt: Double
  /// Left out: never.
  public var lastSeenAt: Double?
  /// Left out: never.
  public var expiresAt: Double?
  /// The four check words that the device shows, for ten minutes after it has paired.
  public var words: String?

  public init(
    id: String, name: String, permissions: [String], createdAt: Double, lastSeenAt: Double? = nil,
    expiresAt: Double? = nil, words: String? = nil
  ) {
    self.id = id
    self.name = name
    self.permissions = permissions
    self.createdAt = createdAt
    self.lastSeenAt = lastSeenAt
    self.expiresAt = expiresAt
    self.words = words
  }
}

/// `invite.create`
public struct InviteDocument: ControlReply {
  public static let member: String? = "invite"

  public var name: String
  public var link: String
  public var allow: [String]
  /// When the guest's access ends, whether or not the link was used.
  public var expiresAt: Double
  /// As for `PairingDocument`.
  public var qr: [String]?

  public init(name: String, link: String, allow: [String], expiresAt: Double, qr: [String]? = nil) {
    self.qr = qr
    self.name = name
    self.link = link
    self.allow = allow
    self.expiresAt = expiresAt
  }
}
