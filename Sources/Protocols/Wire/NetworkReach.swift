/// How far away the other end of a connection is, as far as the addresses of both show.
public enum NetworkReach: Sendable, Hashable {
  case sameMachine
  /// The same home, or a tunnel into it: nothing that stands between needs a server's help.
  case localNetwork
  /// Across the Internet: perhaps a NAT at either end.
  case elsewhere

  /// - Parameters:
  ///   - local: our address of the connection.
  ///   - remote: the other end's; nil where it has none, as a UNIX socket.
  public init(local: IPAddress?, remote: IPAddress?) {
    guard let remote else {
      self = .localNetwork
      return
    }
    if remote.isLoopback || remote == local {
      self = .sameMachine
    } else if remote.isPrivate || local.map({ $0.isOnLink(with: remote) }) ?? false {
      self = .localNetwork
    } else {
      self = .elsewhere
    }
  }
}

extension IPAddress {
  /// Not routed on the Internet: RFC 1918, RFC 6598 (also what VPNs such as Tailscale give), RFC 4193, link-local, loopback.
  public var isPrivate: Bool {
    guard case .v4(let value) = self else { return isUniqueLocal || isLinkLocal || isLoopback }
    return value >> 24 == 10 || value >> 20 == 0xac1 || value >> 16 == 0xc0a8 || value >> 22 == 0x191
      || isLinkLocal || isLoopback
  }

  /// A guess without the interface's prefix: the usual one of a network of public addresses, /64 or /24.
  public func isOnLink(with other: IPAddress) -> Bool {
    switch (self, other) {
    case (.v4(let a), .v4(let b)): a >> 8 == b >> 8
    case (.v6(let a, _), .v6(let b, _)): a == b
    default: false
    }
  }
}
