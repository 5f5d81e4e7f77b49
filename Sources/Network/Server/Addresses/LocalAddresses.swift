internal import NIOCore
public import Wire

/// The machine's own addresses, for host candidates and for printing links.
public enum LocalAddresses {
  /// Whether this machine has a network, but link-local addresses of IPv6 alone (fe80::), at which no viewer can reach it.
  public static var areOnlyLinkLocalIPv6: Bool {
    let devices = (try? System.enumerateDevices()) ?? []
    let addresses = devices.compactMap { $0.address?.transportAddress?.ip }.filter {
      !$0.isLoopback && !$0.isUnspecified
    }
    return !addresses.isEmpty && addresses.allSatisfy { $0.isIPv6 && $0.isLinkLocal }
  }

  /// Addresses of interfaces that are up, IPv4 before IPv6 per interface as the system lists them.
  ///
  /// Leaves out link-local addresses of IPv6: they need a zone, which SDP cannot carry. Those of IPv4 (RFC 3927) are there
  /// only where the machine has no other: a network without a router. Loopback is useful only to a viewer that is known to run
  /// on this machine.
  public static func current(includingLoopback: Bool) -> [IPAddress] {
    let devices = (try? System.enumerateDevices()) ?? []
    var seen: Set<IPAddress> = []
    var result: [IPAddress] = []
    var linkLocal: [IPAddress] = []
    for device in devices {
      guard let address = device.address?.transportAddress?.ip, !address.isUnspecified,
        includingLoopback || !address.isLoopback, seen.insert(address).inserted
      else { continue }
      if address.isLinkLocal { linkLocal.append(address) } else { result.append(address) }
    }
    if result.allSatisfy(\.isLoopback) { result += linkLocal.filter { !$0.isIPv6 } }
    // A viewer on this machine can reach loopback whatever its firewall does: prefer it then.
    return result.filter(\.isLoopback) + result.filter { !$0.isLoopback }
  }

  /// At which other machines of the house reach this one: the addresses of each interface that leads there, the best
  /// first. See `InterfaceTable.house`. Blocks for some milliseconds at most.
  public static func house() -> [[IPAddress]] {
    if let table = RouteDump.read() { return table.house }
    let all = current(includingLoopback: false)
    return all.isEmpty ? [] : [all.filter { !$0.isIPv6 } + all.filter(\.isIPv6)]
  }
}
