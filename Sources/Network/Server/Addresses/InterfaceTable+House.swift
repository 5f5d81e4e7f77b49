internal import Wire

/// At which of its addresses other machines of the house reach this one.
extension InterfaceTable {
  /// The addresses of each interface that leads into the house, the best first, IPv4 first.
  ///
  /// First those with a default route, by its metric: that is where the router is. An interface without a carrier leads
  /// nowhere, a tunnel elsewhere, and a bridge that joins nothing but virtual machines and containers ends in this machine.
  /// These are left out, and so are IPv4 link-local addresses (RFC 3927) unless there is nothing else.
  var house: [[IPAddress]] {
    let running = links.filter(\.value.isRunning).keys
    let metrics = defaultMetrics
    let ranked = running.filter(leadsIntoTheHouse).sorted { one, other in
      (metrics[one] ?? .max, one) < (metrics[other] ?? .max, other)
    }
    let all = ranked.map(addresses(of:))
    let found = all.map { $0.filter { !$0.isLinkLocal } }.filter { !$0.isEmpty }
    if !found.isEmpty { return found }
    let linkLocal = all.filter { !$0.isEmpty }
    if !linkLocal.isEmpty { return linkLocal }
    // A bridge or a tunnel is better than nothing.
    return running.sorted().map(addresses(of:)).filter { !$0.isEmpty }
  }

  private func addresses(of index: Int32) -> [IPAddress] {
    let own = addresses.filter { address in
      address.index == index && Self.isBindable(address) && !address.ip.isLoopback && isOffered(address)
    }.map(\.ip)
    return own.filter { !$0.isIPv6 } + own.filter(\.isIPv6)
  }

  /// By interface, the lowest. Metrics of IPv4 and IPv6 are not comparable: IPv6 alone comes after.
  private var defaultMetrics: [Int32: UInt64] {
    var metrics: [Int32: UInt64] = [:]
    for route in defaultRoutes {
      let metric = UInt64(route.metric) + (route.isIPv6 ? 1 << 32 : 0)
      metrics[route.index] = min(metrics[route.index] ?? .max, metric)
    }
    return metrics
  }

  private func leadsIntoTheHouse(_ index: Int32) -> Bool {
    guard let link = links[index], !link.isPointToPoint, !Self.elsewhere.contains(link.kind) else { return false }
    guard link.kind == "bridge" else { return true }
    if defaultRoutes.contains(where: { $0.index == index }) { return true }
    return links.values.contains { port in
      port.master == index && port.isRunning && !Self.inside.contains(port.kind)
    }
  }

  /// `IFLA_INFO_KIND` of tunnels and of what ends in this machine. `tun` is also TAP: VPNs and virtual machines.
  private static let elsewhere: Set<String> = [
    "tun", "wireguard", "dummy", "ppp", "ipip", "sit", "gre", "gretap", "erspan", "ip6tnl", "ip6gre", "ip6gretap",
    "vti",
    "vti6", "xfrm", "vxlan", "geneve", "nlmon", "ifb", "vrf",
  ]
  /// Ports of bridges that lead to containers and virtual machines.
  private static let inside: Set<String> = elsewhere.union(["veth", "macvtap"])
}
