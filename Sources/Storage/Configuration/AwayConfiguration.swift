public import TURN
public import Wire

extension ChildConfiguration {
  /// An entry of `ice-servers`.
  public struct ICEServerEntry: Sendable, Hashable {
    /// 1...8 addresses of the same server.
    public var urls: [ICEServerURL]
    public var access: Access
    /// Of the credentials that are made from a secret: 10 s to 365 days.
    public var lifetime: Duration = Self.usualLifetime

    /// A parent that was at home within this time finds its way in.
    public static let usualLifetime: Duration = .seconds(30 * 86_400)

    /// How the server knows its users. A TURN server has to.
    public enum Access: Sendable, Hashable {
      case everybody
      case password(username: String, ConfiguredValue)
      /// The secret that is shared with the server: each user gets credentials of its own that expire
      /// (draft-uberti-behave-turn-rest-00; coturn's `static-auth-secret`).
      case secret(ConfiguredValue)
    }
  }

  /// `away`: viewers from outside the home.
  public struct Away: Sendable, Hashable {
    /// Whether their picture and sound may pass through a TURN server.
    public var relay = Relay.allow
    /// The most that a relayed viewer's picture takes, in kbps: whoever runs the relay pays for it twice.
    public var relayBitrateKbps = 800
    /// The most that relayed viewers together take in a night, in bytes; then their picture stays away. Nil: no limit.
    public var relayBytes: Int?
    /// Servers where parents meet the child.
    public var meetings: [Meeting] = []

    public enum Relay: String, CaseIterable, Sendable {
      /// Where no direct path is found.
      case allow
      case never
      /// Always: no viewer learns the home's address.
      case only
    }
  }
}

extension ChildConfiguration.ICEServerEntry {
  /// The server with credentials for one user. Files are read each time, so that a secret can be replaced meanwhile.
  ///
  /// - Parameters:
  ///   - user: stands in the server's log; no secret, and no person's name.
  ///   - lifetime: of credentials that are made from a secret; not more than `self.lifetime`.
  public func server(
    for user: String, lifetime: Duration, clock: WallClockReference, now: Instant, hashes: any Hashes
  ) throws(ConfiguredValueError) -> ICEServer {
    switch access {
    case .everybody:
      return ICEServer(urls: urls)
    case .password(let username, let credential):
      return ICEServer(urls: urls, username: username, credential: try credential.read())
    case .secret(let secret):
      let credentials = TURNCredentials(
        sharedSecret: Array(try secret.read().utf8), name: user, lifetime: min(lifetime, self.lifetime), clock: clock,
        now: now, hashes: hashes)
      return ICEServer(urls: urls, username: credentials.username, credential: credentials.password)
    }
  }
}

extension ChildConfiguration.ICEServerEntry {
  /// The server for somebody whose access may expire: credentials that are made from a secret end with it, and a password,
  /// which nobody takes back, is not given away; then the server is there for Binding requests alone.
  ///
  /// - Parameter timeLeft: of the access; nil: it does not expire.
  /// - Returns: nil if nothing is left of the server.
  public func server(
    lentTo user: String, timeLeft: Duration?, clock: WallClockReference, now: Instant, hashes: any Hashes
  ) throws(ConfiguredValueError) -> ICEServer? {
    if case .password = access, timeLeft != nil { return ICEServer(urls: urls).bindingOnly }
    return try server(for: user, lifetime: timeLeft ?? lifetime, clock: clock, now: now, hashes: hashes)
  }
}

// MARK: - Reading

extension ChildConfiguration {
  static func away(_ top: ConfigurationSection) -> Away {
    var result = Away()
    guard let away = top.section("away", keys: ["relay", "relay-bitrate-kbps", "relay-data", "meetings"]) else {
      return result
    }
    result.relay = away.word("relay") ?? result.relay
    result.relayBitrateKbps = away.integer(
      "relay-bitrate-kbps", default: result.relayBitrateKbps, in: 30...50000)
    result.relayBytes = away.bytes("relay-data")
    result.meetings = (away.list("meetings", maximum: Meeting.maximum) ?? []).enumerated().compactMap { index, node in
      meeting(node, path: "\(away.path("meetings"))[\(index)]", away.reader)
    }
    return result
  }

  static func iceServer(
    _ node: YAMLNode, at index: Int, _ reader: ConfigurationReader,
    usualLifetime: Duration = ICEServerEntry.usualLifetime
  ) -> ICEServerEntry? {
    let keys = ["urls", "username", "credential", "secret", "lifetime"]
    guard let entry = reader.section(node, path: "ice-servers[\(index)]", keys: keys) else { return nil }
    guard let urls = iceURLs(entry) else { return nil }
    // Checks for presence, so that a value refused below is not reported as missing.
    let given = Set(keys[1...3].filter { !(entry.values[$0]?.isNull ?? true) })
    if given.contains("secret"), given.count > 1 {
      reader.report(entry.node, entry.path, "a secret stands in place of username and credential: give it or them")
    } else if given.count == 1, given != ["secret"] {
      reader.report(entry.node, entry.path, "username and credential are given both or neither")
    } else if given.isEmpty, urls.contains(where: \.scheme.isTURN) {
      reader.report(entry.node, entry.path, "a TURN server needs username and credential, or a secret")
    }
    let username = entry.text("username", what: "1 to 512 bytes of printable text") { text in
      (1...512).contains(text.utf8.count) && text.unicodeScalars.allSatisfy(\.isPrintable)
    }
    let seconds = entry.seconds("lifetime", in: 10...365 * 86_400, "a time from 10s to 365d, such as 30d")
    return ICEServerEntry(
      urls: urls, access: access(entry, username, reader), lifetime: seconds.map { .seconds($0) } ?? usualLifetime)
  }

  private static func access(
    _ entry: ConfigurationSection, _ username: String?, _ reader: ConfigurationReader
  ) -> ICEServerEntry.Access {
    if let node = entry.values["secret"], !node.isNull {
      return value(node, entry.path("secret"), reader).map { .secret($0) } ?? .everybody
    }
    guard let node = entry.values["credential"], !node.isNull,
      let credential = value(node, entry.path("credential"), reader), let username
    else { return .everybody }
    return .password(username: username, credential)
  }

  /// A list, or a single URL as in browsers.
  private static func iceURLs(_ entry: ConfigurationSection) -> [ICEServerURL]? {
    guard let node = entry.values["urls"] else {
      entry.reader.report(entry.node, entry.path("urls"), "is missing: \(ICEServerURL.allowed)")
      return nil
    }
    let nodes = node.scalar != nil ? [node] : entry.list("urls", maximum: 8)
    guard let nodes else { return nil }
    if nodes.isEmpty { entry.reader.report(node, entry.path("urls"), "must have at least one address") }
    return nodes.enumerated().compactMap { index, node in
      guard let url = node.scalar.flatMap({ ICEServerURL($0.string) }) else {
        entry.reader.report(
          node, entry.path("urls[\(index)]"), "must be \(ICEServerURL.allowed); but is \(node.kind)")
        return nil
      }
      return url
    }
  }
}
