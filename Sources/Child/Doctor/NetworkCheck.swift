internal import Health
internal import Server
internal import Wire

/// At which addresses other machines reach this one.
enum NetworkCheck {
  static let remedyForLinkLocal =
    "Connect a router, or give both machines IPv4 link-local addresses (NetworkManager: nmcli connection modify NAME "
    + "ipv4.method link-local)."

  /// - Parameters:
  ///   - listen: the configured host.
  ///   - house: see `LocalAddresses.house`.
  static func run(
    listen: String, house: [[IPAddress]] = LocalAddresses.house(),
    isOnlyLinkLocal: Bool = LocalAddresses.areOnlyLinkLocalIPv6
  ) -> Finding {
    let what = "network"
    if let trouble = trouble(listen: listen, house: house, isOnlyLinkLocal: isOnlyLinkLocal) {
      return Finding(what, .problem, trouble, remedy: isOnlyLinkLocal ? remedyForLinkLocal : "ip address")
    }
    let addresses = listens(to: listen).map { [$0] } ?? house.joined().map { "\($0)" }
    return Finding(what, .ok, "other devices reach this one at \(addresses.joined(separator: ", "))")
  }

  /// Why no other device can connect; nil when it can.
  static func trouble(
    listen: String, house: [[IPAddress]] = LocalAddresses.house(),
    isOnlyLinkLocal: Bool = LocalAddresses.areOnlyLinkLocalIPv6
  ) -> String? {
    guard listens(to: listen) == nil, house.joined().isEmpty else { return nil }
    return isOnlyLinkLocal
      ? "this machine has only link-local IPv6 addresses (fe80::), which neither browsers nor viewers can use: no other "
        + "device can connect"
      : "this machine has no address in a network: no other device can connect"
  }

  /// Nil where it listens at every address.
  private static func listens(to host: String) -> String? {
    host.isEmpty || IPAddress(host)?.isUnspecified == true ? nil : host
  }
}
