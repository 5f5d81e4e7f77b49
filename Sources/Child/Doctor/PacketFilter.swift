/// Parses `nft list ruleset` just far enough to decide what happens to a new connection from the local network: nft(8).
///
/// Anything it does not understand that could matter makes the answer `unclear`; it never guesses.
struct PacketFilter {
  enum Fate: Hashable {
    case accepted
    /// By a chain's policy or by this rule.
    case dropped(by: String)
    case unclear
  }

  enum Transport: String {
    case tcp, udp
  }

  private struct Chain {
    /// With its family, such as `inet filter`.
    var table: String
    var name: String
    /// Nil for a chain that is only reached by jumps.
    var policy: String?
    var rules: [[Substring]] = []
  }

  private var chains: [Chain] = []
  /// nft's limit on nested chains.
  private static let deepest = 16

  /// Base chains on the IPv4 input path, which every home has. IPv6 is ignored: if only IPv6 is closed, parents still
  /// get in.
  var inputChains: [String] {
    chains.filter { $0.policy != nil }.map { "\($0.table) \($0.name)" }
  }

  init(_ listing: String) {
    var table = ""
    var depth = 0
    for line in listing.split(separator: "\n") {
      let words = line.split { $0 == " " || $0 == "\t" }
      guard let first = words.first else { continue }
      if depth == 0, first == "table" {
        table = words.dropFirst().filter { $0 != "{" }.joined(separator: " ")
      } else if depth == 1, first == "chain", words.count > 1 {
        chains.append(Chain(table: table, name: String(words[1])))
      } else if depth == 2, first != "}", !chains.isEmpty {
        if first == "type" {
          chains[chains.count - 1].policy = Self.policy(words, of: table)
        } else {
          chains[chains.count - 1].rules.append(words)
        }
      }
      for character in line { depth += character == "{" ? 1 : character == "}" ? -1 : 0 }
    }
  }

  /// `type filter hook input priority filter; policy drop;`. Nil for a chain that does not filter IPv4 input.
  private static func policy(_ words: [Substring], of table: String) -> String? {
    guard words.contains("filter"), words.contains("input"), table.hasPrefix("ip ") || table.hasPrefix("inet ") else {
      return nil
    }
    return words.last == "drop;" ? "drop" : "accept"
  }

  /// What happens to the first packet to a port. Every base chain has to accept it.
  func fate(of transport: Transport, _ port: Int) -> Fate {
    var isClear = true
    for chain in chains {
      guard let policy = chain.policy else { continue }
      var isCertain = true
      let fate = verdict(of: chain, transport, port, deep: 0, &isCertain)
      switch fate ?? (policy == "drop" ? .dropped(by: "policy drop of \(chain.table) \(chain.name)") : .accepted) {
      case .accepted: isClear = isClear && isCertain
      case .dropped(let rule):
        if isCertain { return .dropped(by: rule) }
        isClear = false
      case .unclear: isClear = false
      }
    }
    return isClear ? .accepted : .unclear
  }

  /// Nil when the chain gives no verdict. Sets `isCertain` to false when an earlier rule may have decided.
  private func verdict(
    of chain: Chain, _ transport: Transport, _ port: Int, deep: Int, _ isCertain: inout Bool
  ) -> Fate? {
    for rule in chain.rules {
      let match = Self.match(rule, transport, port)
      guard match != .no, let end = rule.firstIndex(where: Self.verdicts.contains) else { continue }
      let fate: Fate?
      switch rule[end] {
      case "accept": fate = .accepted
      case "drop", "reject": fate = .dropped(by: rule.joined(separator: " "))
      case "return":
        if match == .always { return nil }
        isCertain = false
        continue
      case "queue": fate = .unclear
      default:
        guard deep < Self.deepest, rule.count > end + 1,
          let next = chains.first(where: { $0.table == chain.table && $0.name == rule[end + 1] })
        else {
          isCertain = false
          continue
        }
        fate = verdict(of: next, transport, port, deep: deep + 1, &isCertain)
      }
      guard let fate else { continue }
      if match == .always { return fate }
      isCertain = false
    }
    return nil
  }

  private static let verdicts: [Substring] = ["accept", "drop", "reject", "return", "jump", "goto", "queue"]

  private enum Match { case no, perhaps, always }

  /// Whether a rule matches the first packet of a connection to `port` from another machine on the local network.
  private static func match(_ rule: [Substring], _ transport: Transport, _ port: Int) -> Match {
    var result = Match.always
    var index = 0
    let next = { (offset: Int) -> Substring in index + offset < rule.count ? rule[index + offset] : "" }
    while index < rule.count, !verdicts.contains(rule[index]) {
      switch (rule[index], next(1)) {
      case ("tcp", "dport"), ("udp", "dport"), ("th", "dport"):
        if rule[index] != "th", rule[index] != transport.rawValue { return .no }
        let values = Self.values(rule[(index + 2)...])
        guard let isThere = contains(values.words, port) else { return .perhaps }
        if !isThere { return .no }
        index += 2 + values.count
      case ("ct", "state"):
        let values = Self.values(rule[(index + 2)...])
        if values.words == ["!="] {
          result = .perhaps
        } else if !values.words.contains("new") {
          return .no
        }
        index += 2 + values.count
      case ("iif", "lo"), ("iif", "\"lo\""), ("iifname", "\"lo\""): return .no
      case ("meta", "l4proto"), ("ip", "protocol"), ("ip6", "nexthdr"):
        let values = Self.values(rule[(index + 2)...])
        if values.words.contains(where: {
          $0 == "tcp" || $0 == "udp" || $0 == "icmp" || $0 == "ipv6-icmp" || $0 == "icmpv6"
        }),
          !values.words.contains(Substring(transport.rawValue))
        {
          return .no
        }
        if !values.words.contains(Substring(transport.rawValue)) { result = .perhaps }
        index += 2 + values.count
      case ("icmp", _), ("icmpv6", _), ("igmp", _), ("sctp", _), ("esp", _), ("ah", _): return .no
      case ("counter", "packets"): index += 5
      case ("counter", _): index += 1
      // What follows describes the rule and is not a condition.
      case ("log", _), ("comment", _): return result
      default:
        result = .perhaps
        index += 1
      }
    }
    return result
  }

  /// A single value or an anonymous set, `{ 22, 8443 }`, and the number of words it takes.
  private static func values(_ words: ArraySlice<Substring>) -> (words: [Substring], count: Int) {
    guard words.first == "{" else {
      return (words.first.map { $0.split(separator: ",") } ?? [], min(1, words.count))
    }
    let inside = words.dropFirst().prefix { $0 != "}" }
    return (inside.flatMap { $0.split(separator: ",") }, inside.count + 2)
  }

  /// Nil for anything that is not a number, such as a named set.
  private static func contains(_ values: [Substring], _ port: Int) -> Bool? {
    var isThere = false
    for value in values {
      let ends = value.split(separator: "-").map { Int($0) }
      guard let low = ends.first ?? nil, let high = ends.last ?? nil else { return nil }
      isThere = isThere || (low...max(low, high)).contains(port)
    }
    return isThere
  }
}
