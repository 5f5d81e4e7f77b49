public import Wire

/// A meeting place that lends STUN and TURN servers. What it lends is what it says, unsigned, and this machine sends packets there: so
/// it may name no address by which it would reach into this machine or its home.
public struct LendingPlace: Sendable, Hashable {
  /// Where the place was reached; nil: not known.
  public var address: IPAddress?

  public init(address: IPAddress?) {
    self.address = address
  }

  /// Whether a server at this address may be used. Names are judged by what they resolve to.
  ///
  /// - Parameter own: the addresses of this machine; their networks (/24, /64) are its home.
  public func mayName(_ server: IPAddress, own: [IPAddress]) -> Bool {
    // Who is on this machine may name this machine.
    if server.isLoopback { return address?.isLoopback ?? false }
    guard server.isUsableServer else { return false }
    guard server.isPrivate || own.contains(where: { $0.isOnLink(with: server) }) else { return true }
    // A place in the home, as of a test or a company, may lend what stands beside it.
    return address.map { $0.isPrivate || $0.isOnLink(with: server) } ?? false
  }
}

extension IPAddress {
  /// No address of this machine's link, or of many machines. RFC 6890, RFC 4291.
  fileprivate var isUsableServer: Bool {
    guard !isLinkLocal, !isUnspecified else { return false }
    return switch self {
    // 0.0.0.0/8; multicast and all above.
    case .v4(let value): value >> 24 != 0 && value >> 28 < 0xe
    // ::/96 (deprecated IPv4-compatible addresses) and multicast.
    case .v6(let high, let low): high >> 56 != 0xff && !(high == 0 && low >> 32 == 0)
    }
  }
}
