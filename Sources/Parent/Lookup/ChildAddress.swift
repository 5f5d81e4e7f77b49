internal import Discovery
internal import Pairing
public import Signaling
internal import Wire

/// The address of a child: a host and the TCP port of its HTTPS server.
public struct ChildAddress: Hashable, Sendable, CustomStringConvertible {
  /// The port on which a child listens by default. interfaces/configuration.md, "Configuration".
  public static let defaultPort: UInt16 = 8443

  public let host: HTTPOrigin.Host
  public let port: UInt16

  public init(host: HTTPOrigin.Host, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// `192.0.2.7:8443`, `[2001:db8::7]:8443`, `nursery.local:8443`, or an IP address alone. Nil for anything else: a word
  /// without a port is a child's name.
  public init?(_ text: String) {
    if let address = IPAddress(text) {
      self.init(host: .address(address), port: Self.defaultPort)
      return
    }
    let bytes = text.utf8
    guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")), colon != bytes.startIndex else { return nil }
    let digits = bytes[bytes.index(after: colon)...]
    guard (1...5).contains(digits.count), digits.allSatisfy({ (48...57).contains($0) }),
      let url = try? HTTPURL("https://\(text)/"), url.path == "/", url.query == nil
    else { return nil }
    self.init(host: url.origin.host, port: url.origin.port)
  }

  public var origin: HTTPOrigin { HTTPOrigin(scheme: .https, host: host, port: port) }

  /// Always with its port.
  public var description: String {
    if case .address(let address) = host, address.isIPv6 { return "[\(address)]:\(port)" }
    return "\(host):\(port)"
  }

  /// Whether it is on this machine.
  var isLoopback: Bool {
    switch host {
    case .address(let address): address.isLoopback
    case .name(let name): name == "localhost"
    }
  }
}

extension ChildAddress {
  /// The addresses that a child announces, in the order in which they are tried. A link-local IPv6 address needs a zone,
  /// which cannot be part of a URL, so a child with no other is reached by its host name.
  static func all(of child: DiscoveredChild) -> [ChildAddress] {
    let numeric = child.addresses.compactMap { IPAddress($0) }.filter { !$0.isLinkLocal || !$0.isIPv6 }
    if numeric.isEmpty, let host = name(child.host) { return [ChildAddress(host: host, port: child.port)] }
    return numeric.map { ChildAddress(host: .address($0), port: child.port) }
  }

  /// The addresses at which a child was last reached.
  static func all(of known: KnownAddress) -> [ChildAddress] {
    let numeric = known.addresses.map { ChildAddress(host: .address($0), port: known.port) }
    return numeric + [known.host.flatMap(name)].compactMap(\.self).map { ChildAddress(host: $0, port: known.port) }
  }

  private static func name(_ text: String) -> HTTPOrigin.Host? {
    (try? HTTPURL("https://\(text)/"))?.origin.host
  }
}

extension DiscoveredChild {
  /// It has addresses, but those of fe80::/10 alone.
  var isOnlyLinkLocal: Bool {
    let numeric = addresses.compactMap { IPAddress($0.prefix { $0 != "%" }.description) }
    return !numeric.isEmpty && numeric.allSatisfy { $0.isIPv6 && $0.isLinkLocal }
  }
}

extension KnownAddress {
  /// A child was reached at `address`, which the system resolved to `remote`. Addresses that were known before are kept
  /// after it.
  init(reached address: ChildAddress, remote: IPAddress?, before: KnownAddress?) {
    var host = before?.host
    var addresses: [IPAddress] = []
    switch address.host {
    case .address(let ip): addresses = [ip]
    case .name(let name):
      host = name
      // A link-local address of IPv6 is useless without its zone.
      if let remote, !(remote.isIPv6 && remote.isLinkLocal) { addresses = [remote] }
    }
    if let before, before.port == address.port {
      addresses += before.addresses.filter { !addresses.contains($0) }
    }
    self.init(host: host, addresses: Array(addresses.prefix(Self.maximumAddresses)), port: address.port)
  }
}
