public import Signaling

/// An XMPP server: the child has an account, and parents have one or use the child's.
public struct XMPPPlace: Codable, Hashable, Sendable {
  /// Whose end this is.
  public var account: AccountAddress
  public var password: String
  /// The child's account.
  public var child: AccountAddress
  /// At the child's end: the account of parents, if they have another one. Nobody else is listened to.
  public var parents: AccountAddress?
  /// Where the server is; nil: where DNS says (RFC 6120 section 3.2).
  public var host: String?
  /// Only with a host; nil: 5222.
  public var port: UInt16?
  /// A file with the certificates of the authority that signs the server's, in PEM; nil: those that this machine trusts.
  public var authorities: String?

  public init(
    account: AccountAddress, password: String, child: AccountAddress, parents: AccountAddress? = nil,
    host: String? = nil, port: UInt16? = nil, authorities: String? = nil
  ) {
    self.account = account
    self.password = password
    self.child = child
    self.parents = parents
    self.host = host
    self.port = port
    self.authorities = authorities
  }

  /// The child's resource: what parents send to.
  static let resource = "cradle"

  /// At the child's end: whether an address is one of our own account or the parents'.
  func knows(_ address: String) -> Bool {
    let account = AccountAddress(String(address.prefix { $0 != "/" }))
    return account != nil && (account == self.account || account == parents)
  }

  /// On this machine nobody can listen, so TLS is not asked for, unless an authority is named.
  var mayBePlain: Bool { authorities == nil && ["localhost", "127.0.0.1", "::1"].contains(host) }

  private static let longestPassword = 4096

  /// Whether we can use what somebody has sent us.
  var isUsable: Bool {
    (1...Self.longestPassword).contains(password.utf8.count) && !password.utf8.contains(0) && port != 0
      && host.map { (1...255).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21...0x7e).contains($0) } } ?? true
  }
}
