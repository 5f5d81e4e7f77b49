public import Wire

/// What one end stores about a paired device. interfaces/files.md, "Files".
public struct PairRecord: Hashable, Sendable {
  public enum Role: String, Sendable, CaseIterable {
    case child, parent
  }

  /// `IdentityKey.id` of the public key.
  public let id: String
  public var name: String
  /// The role of the other end.
  public let role: Role
  /// DER SubjectPublicKeyInfo, `IdentityKey.byteCount` bytes.
  public let publicKey: [UInt8]
  /// What the parent may do with the child. Only the child's record is authoritative.
  public var permissions: Permissions
  public let createdAt: UnixTime
  /// When it last proved its key; nil if never since pairing.
  public var lastSeenAt: UnixTime?
  /// When it starts to be refused; nil for never.
  public var expiresAt: UnixTime?
  /// Was once found expired. It stays so, whatever clocks say later.
  public var hasExpired: Bool
  /// The parent has yet to confirm the check words, or to be seen `completedAfterSeconds` after pairing.
  public var awaitsConfirmation: Bool
  /// Where a child was last reached, for a network without discovery. Parents keep it, children do not.
  public var lastAddress: KnownAddress?

  public init(
    id: String, name: String, role: Role, publicKey: [UInt8], permissions: Permissions, createdAt: UnixTime,
    lastSeenAt: UnixTime? = nil, expiresAt: UnixTime? = nil, hasExpired: Bool = false,
    awaitsConfirmation: Bool = false, lastAddress: KnownAddress? = nil
  ) {
    self.id = id
    self.name = name
    self.role = role
    self.publicKey = publicKey
    self.permissions = permissions
    self.createdAt = createdAt
    self.lastSeenAt = lastSeenAt
    self.expiresAt = expiresAt
    self.hasExpired = hasExpired
    self.awaitsConfirmation = awaitsConfirmation
    self.lastAddress = lastAddress
  }

  /// Who is seen so long after pairing has left the check words behind, whatever became of the confirmation.
  public static let completedAfterSeconds: Int64 = 60

  /// Whether both ends have the pair and use it. A parent that could not store it, or whose person said nothing about the
  /// check words, has not got so far.
  public var isCompleted: Bool { lastSeenAt != nil && !awaitsConfirmation }

  /// Whether it has expired at `date`, or was found expired before.
  public func isExpired(at date: UnixTime) -> Bool {
    hasExpired || expiresAt.map { $0 <= date } ?? false
  }

  /// Whether it may be used at `date`: not expired, and if it can expire, not created in the future.
  public func isUsable(at date: UnixTime) -> Bool {
    !isExpired(at: date) && !(expiresAt != nil && createdAt.isInTheFuture(of: date))
  }
}

/// Where a child was last reached.
public struct KnownAddress: Hashable, Sendable {
  /// Any further ones are dropped.
  public static let maximumAddresses = 8

  /// `nursery.local` or another name that was resolved; nil if there was only an address.
  public let host: String?
  public let addresses: [IPAddress]
  public let port: UInt16

  public init(host: String?, addresses: [IPAddress], port: UInt16) {
    self.host = host
    self.addresses = Array(addresses.prefix(Self.maximumAddresses))
    self.port = port
  }
}
