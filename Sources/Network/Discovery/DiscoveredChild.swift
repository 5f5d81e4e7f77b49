/// A child on the local network, as it describes itself. None of this is authenticated.
public struct DiscoveredChild: Codable, Hashable, Sendable {
  /// Its name for people; 1 to 63 bytes without control characters.
  public var name: String
  /// 16 lower-case hexadecimal digits.
  public var id: String
  /// Its machine's name, such as "nursery.local".
  public var host: String
  /// Numeric, at most 16, in the order to try them. Link-local IPv6 addresses have their zone: "fe80::1%eth0".
  public var addresses: [String]
  /// The TCP port of HTTPS.
  public var port: UInt16
  public var pairing: PairingWindow
  /// Of its program; nil when not given.
  public var version: String?

  public init(
    name: String, id: String, host: String, addresses: [String], port: UInt16, pairing: PairingWindow, version: String?
  ) {
    self.name = name
    self.id = id
    self.host = host
    self.addresses = addresses
    self.port = port
    self.pairing = pairing
    self.version = version
  }
}

/// The children that are on the local network at one moment.
public struct Neighbourhood: Hashable, Sendable {
  /// Ordered by name, then id.
  public var children: [DiscoveredChild]
  /// Why nothing can be seen now; nil while the network is being watched.
  public var problem: DiscoveryProblem?

  public init(children: [DiscoveredChild] = [], problem: DiscoveryProblem? = nil) {
    self.children = children
    self.problem = problem
  }
}
