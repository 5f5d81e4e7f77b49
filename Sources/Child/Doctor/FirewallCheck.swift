internal import Glibc
internal import Health
internal import Linux

/// Whether the local packet filter lets parents in. Only root can read its rules; without root the finding says so.
enum FirewallCheck {
  private static let what = "firewall"

  /// - Parameters:
  ///   - port: the HTTPS port.
  ///   - rtspPort: nil while RTSP is off.
  ///   - mediaPorts: nil for any.
  ///   - listing: output of `nft list ruleset`; nil without permission or without nft.
  ///   - isRoot: whether this process may read all rules.
  static func run(
    port: Int, rtspPort: Int? = nil, mediaPorts: ClosedRange<UInt16>?, listing: String?,
    isRoot: Bool = geteuid() == 0, files: SystemFiles
  ) -> Finding {
    guard let listing else {
      return isRoot
        ? Finding(
          what, .unknown, "there is no nft, which would tell its rules",
          remedy: "sudo apt install nftables   # then ask again")
        : Finding(what, .unknown, "its rules can be read by root alone", remedy: "sudo cradle-child doctor")
    }
    // nft does not list iptables-legacy tables.
    let isLegacy = ["/proc/net/ip_tables_names", "/proc/net/ip6_tables_names"].contains { !files.lines($0).isEmpty }
    let filter = PacketFilter(listing)
    var needs: [(PacketFilter.Transport, Int)] = [(.tcp, port)]
    if let rtspPort { needs.append((.tcp, rtspPort)) }
    if let first = mediaPorts?.first { needs.append((.udp, Int(first))) }
    for (transport, number) in needs {
      switch filter.fate(of: transport, number) {
      case .accepted: continue
      case .dropped(let rule):
        return Finding(
          what, .problem, "it keeps viewers out: port \(number)/\(transport.rawValue) is closed (\(rule))",
          remedy: opening(transport, number, filter, files))
      case .unclear:
        return Finding(
          what, .unknown, "its rules are too involved to tell whether port \(number)/\(transport.rawValue) is open",
          remedy: "sudo nft list ruleset")
      }
    }
    if isLegacy {
      return Finding(what, .unknown, "there are rules of iptables-legacy", remedy: "sudo iptables-legacy -S INPUT")
    }
    if filter.inputChains.isEmpty { return Finding(what, .ok, "no rules") }
    // Connectivity checks open a path through a stateful filter, but only while they are being sent: RFC 8445.
    if mediaPorts == nil, filter.fate(of: .udp, anyPort) != .accepted {
      return Finding(
        what, .warning,
        "port \(port)/tcp is open, but sound and picture may take any UDP port, and not all are: choose some with "
          + "`media-ports` in the configuration and open those", remedy: opening(.udp, 50000, filter, files))
    }
    return Finding(what, .ok, "port \(port)/tcp is open")
  }

  /// A port in Linux's ephemeral range: /proc/sys/net/ipv4/ip_local_port_range.
  private static let anyPort = 45678

  private static func opening(
    _ transport: PacketFilter.Transport, _ port: Int, _ filter: PacketFilter, _ files: SystemFiles
  ) -> String {
    let word = "\(port)/\(transport.rawValue)"
    if files.exists("/run/firewalld") {
      return "sudo firewall-cmd --permanent --add-port=\(word) && sudo firewall-cmd --reload"
    }
    if files.exists("/usr/sbin/ufw") { return "sudo ufw allow \(word)" }
    let chain = filter.inputChains.first ?? "inet filter input"
    return "sudo nft insert rule \(chain) \(transport.rawValue) dport \(port) accept   # and in /etc/nftables.conf"
  }

  /// Output of nft; nil if this user may not run it or it is not installed.
  static func listing() -> String? {
    guard geteuid() == 0, let pipe = popen("PATH=/usr/sbin:/sbin:$PATH nft list ruleset 2>/dev/null", "re") else {
      return nil
    }
    var text = ""
    var buffer = [UInt8](repeating: 0, count: 8192)
    while text.utf8.count < 1 << 20 {
      let count = fread(&buffer, 1, buffer.count, pipe)
      if count == 0 { break }
      text += String(decoding: buffer[..<count], as: UTF8.self)
    }
    return pclose(pipe) == 0 ? text : nil
  }
}
