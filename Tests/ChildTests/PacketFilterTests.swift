import Health
import TestSupport
import Testing

@testable import Child

/// What `nft list ruleset` prints, and what it means for a parent that wants in.
@Suite struct PacketFilterTests {
  private static func input(_ rules: String, policy: String = "drop") -> String {
    """
    table inet filter {
    \tchain input {
    \t\ttype filter hook input priority filter; policy \(policy);
    \(rules.split(separator: "\n").map { "\t\t\($0)" }.joined(separator: "\n"))
    \t}

    \tchain forward {
    \t\ttype filter hook forward priority filter; policy drop;
    \t}
    }
    """
  }

  private static let usual = "ct state invalid drop\nct state { established, related } accept\niif \"lo\" accept"

  @Test(
    arguments: [
      // Rules behind the usual ones, and what becomes of 8443/tcp where the policy is to drop.
      ("", "closed"), ("tcp dport 22 accept", "closed"), ("tcp dport 8443 accept", "open"),
      ("tcp dport { 22, 80, 8443 } accept", "open"), ("tcp dport 8000-9000 counter packets 5 bytes 300 accept", "open"),
      ("udp dport 8443 accept", "closed"), ("th dport 8443 accept", "open"), ("accept", "open"),
      ("meta l4proto tcp tcp dport 8443 accept", "open"), ("meta l4proto { icmp, ipv6-icmp } accept", "closed"),
      ("icmp type echo-request accept", "closed"), ("tcp dport 8443 ct state new accept", "open"),
      ("tcp dport 8443 drop\ntcp dport 8443 accept", "closed"), ("tcp dport 8443 reject with tcp reset", "closed"),
      // For some of the house, or by a set that is listed elsewhere.
      ("ip saddr 192.168.1.0/24 tcp dport 8443 accept", "unclear"), ("iifname \"eth0\" accept", "unclear"),
      ("tcp dport @listeners accept", "unclear"), ("ip saddr 10.0.0.0/8 accept\ntcp dport 8443 accept", "unclear"),
      ("ip saddr 10.0.0.0/8 tcp dport 22 accept", "closed"), ("log prefix \"in: \" accept", "open"),
      ("ct state != established accept", "unclear"), ("ct state new,untracked accept", "open"),
      ("ct state vmap { established : accept, related : accept, invalid : drop }", "closed"),
      ("tcp dport vmap { 22 : accept, 8443 : accept }", "unclear"),
    ])
  func rulesAreFollowedInTheirOrder(rules: String, fate: String) {
    let filter = PacketFilter(Self.input(Self.usual + "\n" + rules))
    switch filter.fate(of: .tcp, 8443) {
    case .accepted: #expect(fate == "open")
    case .dropped: #expect(fate == "closed")
    case .unclear: #expect(fate == "unclear")
    }
  }

  @Test func withoutRulesEverythingIsOpen() {
    #expect(PacketFilter("").fate(of: .tcp, 8443) == .accepted)
    #expect(PacketFilter("").inputChains.isEmpty)
    #expect(PacketFilter(Self.input("", policy: "accept")).fate(of: .udp, 50_000) == .accepted)
    #expect(PacketFilter(Self.input("")).inputChains == ["inet filter input"])
  }

  @Test func oneChainThatDropsIsEnough() {
    let two =
      Self.input("tcp dport 8443 accept") + "\n"
      + Self.input("tcp dport 8443 drop", policy: "accept").replacing("filter {", with: "other {")
    #expect(PacketFilter(two).fate(of: .tcp, 8443) == .dropped(by: "tcp dport 8443 drop"))
  }

  @Test func chainsThatAreJumpedToAreFollowed() {
    let listing = """
      table ip filter {
      \tchain listeners {
      \t\ttcp dport 8443 accept
      \t}
      \tchain INPUT {
      \t\ttype filter hook input priority filter; policy drop;
      \t\tct state established accept
      \t\tcounter packets 0 bytes 0 jump listeners
      \t}
      \tchain loop {
      \t\tjump loop
      \t}
      }
      table ip nat {
      \tchain PREROUTING {
      \t\ttype nat hook prerouting priority dstnat; policy accept;
      \t}
      }
      """
    #expect(PacketFilter(listing).fate(of: .tcp, 8443) == .accepted)
    #expect(PacketFilter(listing).fate(of: .tcp, 22) == .dropped(by: "policy drop of ip filter INPUT"))
    #expect(PacketFilter(listing).inputChains == ["ip filter INPUT"])
    let endless = listing.replacing("jump listeners", with: "jump loop")
    #expect(PacketFilter(endless).fate(of: .tcp, 8443) != .accepted)
  }

  // MARK: What is said about it

  private static func check(
    _ listing: String?, media: ClosedRange<UInt16>? = nil, _ content: [String: String] = [:]
  ) throws -> Finding {
    let root = try FakeRoot(content)
    return FirewallCheck.run(port: 8443, mediaPorts: media, listing: listing, isRoot: false, files: root.files)
  }

  @Test func whatMayNotBeReadIsNotGuessed() throws {
    let finding = try Self.check(nil)
    #expect(finding.state == .unknown)
    #expect(finding.remedy == "sudo cradle-child doctor")
    let root = FirewallCheck.run(port: 8443, mediaPorts: nil, listing: nil, isRoot: true, files: try FakeRoot().files)
    #expect(root.state == .unknown)
    #expect(root.remedy?.hasPrefix("sudo apt install nftables") == true)
    #expect(try Self.check("", ["/proc/net/ip_tables_names": "filter\n"]).state == .unknown)
    #expect(try Self.check(Self.input("ip saddr 10.0.0.0/8 accept")).state == .unknown)
  }

  @Test func aClosedPortComesWithTheCommandThatOpensIt() throws {
    let closed = Self.input(Self.usual)
    #expect(try Self.check(closed).state == .problem)
    #expect(
      try Self.check(closed).remedy?.hasPrefix("sudo nft insert rule inet filter input tcp dport 8443 accept") == true)
    #expect(try Self.check(closed, ["/usr/sbin/ufw": ""]).remedy == "sudo ufw allow 8443/tcp")
    #expect(try Self.check(closed, ["/run/firewalld/x": ""]).remedy?.contains("--add-port=8443/tcp") == true)
  }

  @Test func soundAndPictureNeedTheirPortsToo() throws {
    let https = Self.usual + "\ntcp dport 8443 accept"
    #expect(try Self.check(Self.input(https)).state == .warning)
    #expect(try Self.check(Self.input(https), media: 50_000...50_000).state == .problem)
    #expect(try Self.check(Self.input(https + "\nudp dport 50000 accept"), media: 50_000...50_000).state == .ok)
    #expect(try Self.check("").state == .ok)
  }
}
