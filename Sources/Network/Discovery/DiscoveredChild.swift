/// A child on the local network, as it describes itself. None of this is authenticated.
public struct DiscoveredChild: Codable, Hashable, Sendable {
  /// Its display name; 1 to 63 bytes without control characters.
  public var name: String
  /// 16 lower-case hexadecimal digits.
  public var id: String
  /// Its host name, such as "nursery.local".
  public var host: String
  /// Numeric, at most 16, in the order to try them. Link-local IPv6 addresses include their zone: "fe80::1%eth0".
  public var addresses: [String]
  /// The TCP port of HTTPS.
  public var port: UInt16
  public var pairing: PairingWindow
  /// Version of its program; nil when not given.
  public var version: String?
}

/// The children on the local network at one moment.
public struct Neighbourhood: Hashable, Sendable {
  /// Ordered by name, then id.
  public var children: [DiscoveredChild]
  /// Why browsing does not work now; nil while it does.
  public var problem: DiscoveryProblem?

  public init(children: [DiscoveredChild] = [], problem: DiscoveryProblem? = nil) {
    self.children = children
    self.problem = problem
  }
}
