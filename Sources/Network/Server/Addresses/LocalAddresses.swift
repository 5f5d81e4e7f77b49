internal import NIOCore
public import Wire

/// The machine's own addresses, for host candidates and for printing links.
public enum LocalAddresses {
  /// Addresses of interfaces that are up, IPv4 before IPv6 per interface as the system lists them.
  ///
  /// Leaves out link-local addresses: they need a zone, which SDP cannot carry. Loopback is useful only to a viewer
  /// that is known to run on this machine.
  public static func current(includingLoopback: Bool) -> [IPAddress] {
    let devices = (try? System.enumerateDevices()) ?? []
    var seen: Set<IPAddress> = []
    var result: [IPAddress] = []
    for device in devices {
      guard let address = device.address?.transportAddress?.ip, !address.isLinkLocal, !address.isUnspecified,
        includingLoopback || !address.isLoopback, seen.insert(address).inserted
      else { continue }
      result.append(address)
    }
    // A viewer on this machine can reach loopback whatever its firewall does: prefer it then.
    return result.filter(\.isLoopback) + result.filter { !$0.isLoopback }
  }
}
