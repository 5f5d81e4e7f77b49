internal import NIOCore
public import Wire

/// The machine's own addresses, for host candidates and for printing links.
public enum LocalAddresses {
  /// Addresses of interfaces that are up, IPv4 before IPv6 per interface as the system lists them.
  ///
  /// Link-local addresses stay out: they need a zone that SDP cannot carry. Loopback is of use only to a viewer that
  /// is known to sit on this machine.
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
    // A viewer on this machine reaches loopback whatever its firewall says: prefer it then.
    return result.filter(\.isLoopback) + result.filter { !$0.isLoopback }
  }
}
