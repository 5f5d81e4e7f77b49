public import Wire

/// What one end keeps of a device that it is paired with. INTERFACES.md, "Files".
public struct PairRecord: Hashable, Sendable {
  public enum Role: String, Sendable, CaseIterable {
    case child, parent
  }

  /// `IdentityKey.id` of the public key.
  public let id: String
  public var name: String
  /// What the other end is.
  public let role: Role
  /// DER SubjectPublicKeyInfo, `IdentityKey.byteCount` bytes.
  public let publicKey: [UInt8]
  /// What the parent of the pair may do with the child of the pair. Only the child's record decides.
  public var permissions: Permissions
  public let createdAt: UnixTime
  /// When it last proved its key; nil for never since pairing.
  public var lastSeenAt: UnixTime?
  /// From when on it is refused; nil for never.
  public var expiresAt: UnixTime?
  /// Its time was seen to be over once. It stays over, whatever clocks say later.
  public var hasExpired: Bool
  /// Where a child was last reached, for a network without discovery. Parents keep it, children do not.
  public var lastAddress: KnownAddress?

  public init(
    id: String, name: String, role: Role, publicKey: [UInt8], permissions: Permissions, createdAt: UnixTime,
    lastSeenAt: UnixTime? = nil, expiresAt: UnixTime? = nil, hasExpired: Bool = false, lastAddress: KnownAddress? = nil
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
    self.lastAddress = lastAddress
  }

  /// Whether its time is over at `date`, or was seen to be over before.
  public func isExpired(at date: UnixTime) -> Bool {
    hasExpired || expiresAt.map { $0 <= date } ?? false
  }

  /// Whether it may be used at `date`: not expired, and if it can expire, not made in the future.
  public func isUsable(at date: UnixTime) -> Bool {
    !isExpired(at: date) && !(expiresAt != nil && createdAt.isInTheFuture(of: date))
  }
}

/// Where a child was last reached.
public struct KnownAddress: Hashable, Sendable {
  /// More are cut off.
  public static let maximumAddresses = 8

  /// `nursery.local` or whatever name was asked; nil when there was only an address.
  public let host: String?
  public let addresses: [IPAddress]
  public let port: UInt16

  public init(host: String?, addresses: [IPAddress], port: UInt16) {
    self.host = host
    self.addresses = Array(addresses.prefix(Self.maximumAddresses))
    self.port = port
  }
}
