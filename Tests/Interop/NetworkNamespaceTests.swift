import Foundation
import Testing

/// Two hosts of the tests' own, joined by a cable: nothing leaves the machine. Needs root, as CI has.
final class TwoHosts {
  let child = "cradle-c-\(UInt16.random(in: 0...UInt16.max))"
  let parent = "cradle-p-\(UInt16.random(in: 0...UInt16.max))"
  /// Addresses of one family only, so that nothing can take the other way. `mtu` is the child's interface's; `first` is the kind
  /// of an interface with an address that the child has before it: `bridge` or `veth`.
  init(isIPv6: Bool, mtu: Int = 1500, first: String? = nil) throws {
    try ip("netns", "add", child)
    try ip("netns", "add", parent)
    if let first {
      // A cable whose other end is not switched on is a card without a carrier.
      try ip("-n", child, "link", "add", "docker0", "type", first)
      try ip("-n", child, "addr", "add", "172.17.0.1/16", "dev", "docker0")
      try ip("-n", child, "link", "set", "docker0", "up")
    }
    try ip("link", "add", "cable", "netns", child, "type", "veth", "peer", "name", "cable", "netns", parent)
    for (host, last) in [(child, 1), (parent, 2)] {
      try ip("-n", host, "link", "set", "lo", "up")
      if isIPv6 {
        try ip("-n", host, "addr", "add", "fd77:3::\(last)/64", "dev", "cable", "nodad")
      } else {
        try ip("-n", host, "addr", "add", "10.77.3.\(last)/24", "dev", "cable")
      }
      try ip("-n", host, "link", "set", "cable", "up")
    }
    try ip("-n", child, "link", "set", "cable", "mtu", "\(mtu)")
  }

  deinit {
    try? ip("netns", "delete", child)
    try? ip("netns", "delete", parent)
  }

  /// Of what comes in by UDP: TCP carries pairing and signalling.
  func loseAnEighthOnTheWayToTheParent() throws {
    let rules = """
      table inet lossy {
        chain input {
          type filter hook input priority filter; policy accept;
          meta l4proto udp numgen random mod 8 == 0 drop
        }
      }
      """
    try ip("netns", "exec", parent, "nft", rules)
  }

  func prefix(_ host: String) -> [String] { ["ip", "netns", "exec", host] }

  private func ip(_ arguments: String...) throws {
    let (_, error, status) = try ChildProcess.run("ip", arguments)
    guard status == 0 else { throw ChildProcess.Problem(description: "ip \(arguments): \(error)") }
  }
}

extension RealPeers {
  @Suite(.enabled(if: getuid() == 0, "network namespaces need root")) struct NetworkNamespaceTests {
    /// Through 1,000 bytes our datagrams go as fragments, and the kernel refuses to cut them out of larger writes.
    @Test(arguments: [(false, 1500), (true, 1500), (false, 1000)])
    func aViewerOnAnotherHostWatches(isIPv6: Bool, mtu: Int) throws {
      let hosts = try TwoHosts(isIPv6: isIPv6, mtu: mtu)
      let child = try ChildProcess(prefix: hosts.prefix(hosts.child))
      let host = isIPv6 ? "[fd77:3::1]" : "10.77.3.1"
      let (result, log) = try ViewerProgram.aiortc.watch(
        "https://\(host):\(child.port)/whep", token: child.token, prefix: hosts.prefix(hosts.parent))
      let note = Comment(rawValue: "\(result)\n\(log.suffix(1500))")
      #expect(result.connected && result.error == nil, note)
      #expect(result.framesDecoded >= 40 && result.picturesChanged, note)
      #expect(abs((result.audio.toneHz ?? 0) - 1000) < 40, note)
      #expect(result.dataChannel.pingMs != nil, note)
      #expect(result.ipFamily == (isIPv6 ? "IPv6" : "IPv4"), note)
    }

    @Test(arguments: [true, false])
    func soundCarriesErrorCorrectionWhereSomethingIsLost(isLossy: Bool) throws {
      let hosts = try TwoHosts(isIPv6: false)
      if isLossy { try hosts.loseAnEighthOnTheWayToTheParent() }
      let child = try ChildProcess(prefix: hosts.prefix(hosts.child))
      let file = child.folder.appending(path: "sound.webm").path
      let parent = try ParentProcess(
        "https://10.77.3.1:\(child.port)/whep", token: child.token, arguments: ["--record", file, "--duration", "6"],
        prefix: hosts.prefix(hosts.parent))
      #expect(parent.finish().status == 0, Comment(rawValue: parent.log))
      let modes = try Self.opusConfigurations(file)
      // RFC 6716 section 3.1: 12 to 15 are the hybrid modes, from 16 on there is no speech layer to carry a copy.
      let last = modes.suffix(50)
      #expect(modes.count > 100 && last.allSatisfy { isLossy ? 12...15 ~= $0 : 16...31 ~= $0 }, "\(modes)")
    }

    /// Link-local addresses alone, and Avahi: RFC 3927. Of IPv6 alone they need a zone, which neither a URL nor SDP has.
    @Test(arguments: [false, true]) func twoMachinesOnOneCableWatch(isIPv6Only: Bool) throws {
      struct Outcome: Decodable {
        struct Step: Decodable { var status: Int, error: String }
        struct Found: Decodable { var name: String, addresses: [String] }
        struct Check: Decodable { var detail: String, remedy: String? }
        var link: String
        var problem: String?
        var network: [Check]
        var discovered: [Found]
        var pair: Step
        var watch: Step?
        var figures: [ParentFigures]?
        var log: String
      }
      let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "peers/one_cable.py").path
      let (output, error, _) = try ChildProcess.run(
        "/usr/bin/python3",
        [script, "--child", ChildProcess.program.path, "--parent", ParentProcess.program.path]
          + (isIPv6Only ? ["--ipv6-only"] : []))
      let line = try #require(output.split(separator: "\n").last, Comment(rawValue: error))
      let outcome = try JSONDecoder().decode(Outcome.self, from: Data(line.utf8))
      let note = Comment(rawValue: "\(outcome)")
      #expect(outcome.discovered.map(\.name) == ["Nursery"], note)
      guard !isIPv6Only else {
        #expect(outcome.pair.status == 1 && outcome.pair.error.contains("fe80::"), note)
        #expect(outcome.log.contains("fe80::"), note)
        #expect(outcome.problem?.contains("fe80::") == true, note)
        #expect(outcome.network.first?.detail == outcome.problem && outcome.network.first?.remedy != nil, note)
        return
      }
      #expect(outcome.link == "https://169.254.77.1:8443/" && outcome.problem == nil, note)
      #expect(outcome.network.first?.detail.contains("169.254.77.1") == true, note)
      #expect(outcome.pair.status == 0 && outcome.watch?.status == 0, note)
      #expect(outcome.figures?.last?.framesDecoded ?? 0 > 15, note)
    }

    /// Whatever was there before the network card: the link leads to the address that the other machine can reach.
    @Test(arguments: ["bridge", "veth"]) func theLinkLeadsIntoTheHouse(other: String) throws {
      let hosts = try TwoHosts(isIPv6: false, first: other)
      let child = try ChildProcess(prefix: hosts.prefix(hosts.child))
      struct Opened: Decodable {
        var link: String
        var links: [String]
      }
      // The window stays open: the first of two lines is enough.
      let directories = ["--state-directory", "--runtime-directory"].enumerated().flatMap { index, flag in
        [flag, child.folder.appending(path: ["state", "run"][index]).path]
      }
      func open() throws -> Opened {
        let file = child.folder.appending(path: "opened").path
        let command = """
          "$@" >"$0" & pair=$!
          for i in $(seq 100); do [ -s "$0" ] && break; sleep 0.1; done
          kill $pair; wait; head -n 1 "$0"; rm "$0"
          """
        let arguments = ["-c", command, file, ChildProcess.program.path, "pair", "--json"] + directories
        return try JSONDecoder().decode(Opened.self, from: Data(ChildProcess.run("sh", arguments).output.utf8))
      }
      let opened = try open()
      #expect(opened.link.hasPrefix("https://10.77.3.1:\(child.port)/"), "\(opened)")
      #expect(opened.links == [opened.link])
      // A second network is offered, too, after the one with the default route.
      try ChildProcess.ip(hosts.child, "link", "add", "second", "type", "veth", "peer", "name", "other")
      for name in ["second", "other"] { try ChildProcess.ip(hosts.child, "link", "set", name, "up") }
      try ChildProcess.ip(hosts.child, "addr", "add", "10.77.1.1/24", "dev", "second")
      try ChildProcess.ip(hosts.child, "route", "add", "default", "via", "10.77.3.2")
      let both = try open()
      #expect(both.links.count == 2 && both.links[0] == both.link, "\(both)")
      #expect(both.link.hasPrefix("https://10.77.3.1:") && both.links.last?.hasPrefix("https://10.77.1.1:") == true)
    }

    /// The first five bits of each packet of sound.
    private static func opusConfigurations(_ file: String) throws -> [UInt8] {
      struct Packets: Decodable {
        struct Packet: Decodable { var data: String }
        var packets: [Packet]
      }
      let (output, error, _) = try ChildProcess.run(
        "ffprobe", ["-v", "error", "-of", "json", "-select_streams", "a", "-show_packets", "-show_data", file])
      #expect(error.isEmpty, Comment(rawValue: error))
      return try JSONDecoder().decode(Packets.self, from: Data(output.utf8)).packets.compactMap { packet in
        // An address, then pairs of bytes.
        packet.data.firstMatch(of: /[0-9a-f]{8}: ([0-9a-f]{2})/).flatMap { UInt8($0.1, radix: 16) }.map { $0 >> 3 }
      }
    }
  }
}
