internal import CLinux
internal import Wire

/// The machine's interfaces and their addresses, kept up to date by the kernel's messages.
struct InterfaceTable {
  struct Link: Hashable {
    /// Switched on, and with a carrier: IFF_UP and IFF_RUNNING of netdevice(7).
    var isRunning: Bool
    /// IFF_POINTOPOINT.
    var isPointToPoint = false
    /// Of virtual ones, `IFLA_INFO_KIND`: `bridge`, `veth`, `tun`, …; else empty.
    var kind = ""
    /// The bridge that it is a port of; 0: none.
    var master: Int32 = 0
  }

  /// A way to everywhere, in the main table.
  struct DefaultRoute: Hashable {
    /// The interface's.
    var index: Int32
    /// The lower one is taken.
    var metric: UInt32
    var isIPv6: Bool
  }

  struct Address: Hashable {
    var ip: IPAddress
    /// The interface's.
    var index: Int32
    /// In bits.
    var prefixLength: UInt8
    /// IFA_F_… of linux/if_addr.h.
    var flags: UInt32
  }

  /// More than any home's machine has, containers included; further ones are not known.
  static let maximumLinks = 1024
  static let maximumAddresses = 4096
  static let maximumRoutes = 256

  private(set) var links: [Int32: Link] = [:]
  /// In the order in which they came.
  private(set) var addresses: [Address] = []
  /// As of a dump: changes are not followed.
  private(set) var defaultRoutes: [DefaultRoute] = []

  mutating func apply(_ change: RouteChange) {
    switch change {
    case .link(let link, let index):
      if links[index] != nil || links.count < Self.maximumLinks { links[index] = link }
    case .linkGone(let index):
      links[index] = nil
      addresses.removeAll { $0.index == index }
    case .address(let address):
      if let known = addresses.firstIndex(where: { $0.ip == address.ip && $0.index == address.index }) {
        addresses[known] = address
      } else if addresses.count < Self.maximumAddresses {
        addresses.append(address)
      }
    case .addressGone(let ip, let index):
      addresses.removeAll { $0.ip == ip && $0.index == index }
    case .defaultRoute(let route):
      if defaultRoutes.count < Self.maximumRoutes { defaultRoutes.append(route) }
    case .dumpEnded, .dumpFailed:
      break
    }
  }

  /// Every address that can be bound, each once, IPv4 before IPv6, and last those of RFC 3927, which networks without a router
  /// have.
  var local: [LocalAddress] {
    var order: [IPAddress] = []
    var found: [IPAddress: LocalAddress] = [:]
    for address in addresses where Self.isBindable(address) {
      let isRunning = links[address.index]?.isRunning ?? false
      let new = LocalAddress(ip: address.ip, isRunning: isRunning, isOffered: isRunning && isOffered(address))
      if let known = found[address.ip] {
        // Two interfaces may have the same one.
        found[address.ip] = LocalAddress(
          ip: address.ip, isRunning: known.isRunning || new.isRunning, isOffered: known.isOffered || new.isOffered)
      } else {
        order.append(address.ip)
        found[address.ip] = new
      }
    }
    let routed = order.filter { !$0.isLinkLocal }
    return (routed.filter { !$0.isIPv6 } + routed.filter(\.isIPv6) + order.filter(\.isLinkLocal)).compactMap {
      found[$0]
    }
  }

  /// Duplicate address detection has neither failed nor is it still running; RFC 4429 lets an optimistic address be used
  /// meanwhile. Link-local addresses of IPv6 need a zone, which SDP cannot carry.
  static func isBindable(_ address: Address) -> Bool {
    let flags = Int32(bitPattern: address.flags)
    guard flags & IFA_F_DADFAILED == 0, flags & IFA_F_TENTATIVE == 0 || flags & IFA_F_OPTIMISTIC != 0 else {
      return false
    }
    return !(address.ip.isIPv6 && address.ip.isLinkLocal) && !address.ip.isUnspecified
  }

  /// RFC 8445 section 5.1.1.1. A deprecated address (RFC 4862 section 5.5.4) serves what uses it already, and nothing new.
  func isOffered(_ address: Address) -> Bool {
    guard case .v6(let high, let low) = address.ip else { return true }
    // RFC 3879: site-local; RFC 4291 section 2.5.5.1: IPv4-compatible, as ::1 is not.
    if high >> 54 == 0x3fb || high == 0 && low >> 32 == 0 && low > 1 { return false }
    return !Self.isDeprecated(address) && (Self.hidesLocation(address) || !hasHiddenNeighbour(address))
  }

  private static func isDeprecated(_ address: Address) -> Bool {
    Int32(bitPattern: address.flags) & IFA_F_DEPRECATED != 0
  }

  /// Temporary (RFC 8981) or of an opaque, stable interface identifier (RFC 7217).
  private static func hidesLocation(_ address: Address) -> Bool {
    Int32(bitPattern: address.flags) & (IFA_F_TEMPORARY | IFA_F_STABLE_PRIVACY) != 0
  }

  /// Whether the same interface has an address of the same prefix that hides where it is: then that one is offered alone.
  private func hasHiddenNeighbour(_ address: Address) -> Bool {
    addresses.contains { other in
      other.index == address.index && other.ip.isIPv6 && Self.hidesLocation(other) && Self.isBindable(other)
        && !Self.isDeprecated(other) && Self.sharesPrefix(address, other)
    }
  }

  private static func sharesPrefix(_ one: Address, _ other: Address) -> Bool {
    guard case .v6(let high, let low) = one.ip, case .v6(let otherHigh, let otherLow) = other.ip else { return false }
    let bits = UInt64(min(one.prefixLength, other.prefixLength))
    if bits <= 64 { return (high ^ otherHigh) >> (64 - bits) == 0 }
    return high == otherHigh && (low ^ otherLow) >> (128 - bits) == 0
  }
}
