internal import FoundationEssentials
internal import Server
internal import Wire

/// The names and addresses at which the machines of the house reach this one.
struct NodeHosts: Hashable, Sendable, CustomStringConvertible {
  var names: [String]
  var addresses: [IPAddress]

  var isEmpty: Bool { names.isEmpty && addresses.isEmpty }
  var all: [String] { names + addresses.map { "\($0)" } }
  var description: String { all.joined(separator: ", ") }

  /// Of now. Addresses of the Internet change, and are left out.
  ///
  /// - Parameter listen: the configured host.
  static func current(listen: String) -> NodeHosts {
    var addresses: [IPAddress] = []
    switch IPAddress(listen) {
    case let address? where !address.isUnspecified: addresses = [address]
    case nil where !listen.isEmpty: return NodeHosts(names: [listen.lowercased()], addresses: [])
    default: addresses = LocalAddresses.house().joined().filter { !$0.isIPv6 || $0.isUniqueLocal }
    }
    // Not the bare name: a constraint also permits all names below it, and a board may be called like a top-level domain.
    return NodeHosts(names: hostName.map { ["\($0).local"] } ?? [], addresses: addresses)
  }

  /// As Avahi announces it, up to the first dot; nil if it is no name for others.
  private static var hostName: String? {
    let host = ProcessInfo.processInfo.hostName.lowercased().prefix { $0 != "." }
    let isUsable =
      !host.isEmpty && host != "localhost" && host.utf8.count <= 63
      && host.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || byte == UInt8(ascii: "-")
      }
    return isUsable ? String(host) : nil
  }
}
