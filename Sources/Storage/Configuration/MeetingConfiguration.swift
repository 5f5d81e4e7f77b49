internal import DeviceNames
public import Signaling
internal import Wire

extension ChildConfiguration {
  /// An entry of `away.meetings`: a server on the Internet where parents meet the child.
  public struct Meeting: Sendable, Hashable {
    /// Each costs a connection, day and night.
    static let maximum = 4

    public enum Kind: Sendable, Hashable {
      /// `cradle-rendezvous`, with the SHA-256 of its key where no authority vouches for it.
      case rendezvous(url: String, keySHA256: [UInt8]?)
      /// An MQTT broker, with what stands before its topics.
      ///
      /// - authorities: a PEM file with the authority that the child trusts; nil: those of the machine.
      case mqtt(url: String, topic: String, authorities: String?)
      /// An XMPP server, with the child's account there.
      ///
      /// - host: where the server is; nil: where DNS says.
      case xmpp(account: AccountAddress, host: String?, port: UInt16?, authorities: String?)
    }

    /// An account at the server.
    public struct Access: Sendable, Hashable {
      public var username: String
      /// Nil where the server asks for none.
      public var password: ConfiguredValue?
    }

    public var kind: Kind
    /// The child's own.
    public var access: Access?
    /// What parents are given; nil: the child's own.
    public var parents: Access?
  }

  static func meeting(_ node: YAMLNode, path: String, _ reader: ConfigurationReader) -> Meeting? {
    let kinds = [
      "rendezvous": ["rendezvous", "key-sha256"],
      "mqtt": ["mqtt", "username", "password", "parents", "topic", "ca"],
      "xmpp": ["xmpp", "password", "parents", "host", "port", "ca"],
    ]
    let names = ["rendezvous", "mqtt", "xmpp"]
    let given = node.mapping?.compactMap { $0.0.scalar?.string } ?? []
    let kind = names.first(where: given.contains)
    guard let entry = reader.section(node, path: path, keys: kind.flatMap { kinds[$0] } ?? names) else { return nil }
    switch kind {
    case "rendezvous": return rendezvous(entry)
    case "mqtt": return mqtt(entry)
    case "xmpp": return xmpp(entry)
    default:
      reader.report(node, path, "must have one of \(names.joined(separator: ", "))")
      return nil
    }
  }

  private static func rendezvous(_ entry: ConfigurationSection) -> Meeting? {
    let url = required("rendezvous", of: entry, what: "a wss:// URL, such as wss://meet.example.org") { text in
      text.hasPrefix("wss://") && (try? HTTPURL("https://" + text.dropFirst("wss://".count))) != nil
    }
    let digest = entry.text("key-sha256", what: "64 hexadecimal digits") { Self.sha256($0) != nil }
    guard let url else { return nil }
    return Meeting(kind: .rendezvous(url: url, keySHA256: digest.flatMap(Self.sha256)))
  }

  private static func mqtt(_ entry: ConfigurationSection) -> Meeting? {
    let url = required("mqtt", of: entry, what: BrokerURL.allowed) { BrokerURL($0) != nil }
    let topic = entry.text(
      "topic", what: "1 to 128 bytes without spaces, + and #, such as \(MeetingTopics.usualPrefix)",
      isAllowed: MeetingTopics.isPrefix)
    let authorities = entry.text("ca", what: "a PEM file", isAllowed: \.isPlainPath)
    let access = access(entry)
    let parents = parents(entry)
    guard let url else { return nil }
    return Meeting(
      kind: .mqtt(url: url, topic: topic ?? MeetingTopics.usualPrefix, authorities: authorities), access: access,
      parents: parents)
  }

  private static func xmpp(_ entry: ConfigurationSection) -> Meeting? {
    let account = required("xmpp", of: entry, what: AccountAddress.allowed) { AccountAddress($0) != nil }
    let password = xmppPassword(entry)
    let host = entry.text("host", what: "a host name or an address") { text in
      (try? HTTPURL("https://" + (text.contains(":") ? "[\(text)]" : text))) != nil && !text.contains("/")
    }
    var port: UInt16?
    if let node = entry.values["port"], !node.isNull {
      port = UInt16(exactly: entry.integer("port", default: 5222, in: 1...65535))
      if entry.values["host"]?.isNull ?? true {
        entry.reader.report(node, entry.path("host"), "is missing: a port needs one")
      }
    }
    let authorities = entry.text("ca", what: "a PEM file", isAllowed: \.isPlainPath)
    var parents: Access?
    if let node = entry.values["parents"], !node.isNull,
      let section = entry.section("parents", keys: ["username", "password"])
    {
      let username = required("username", of: section, what: AccountAddress.allowed) { AccountAddress($0) != nil }
      if section.values["username"] == nil {
        entry.reader.report(node, section.path("username"), "is missing: \(AccountAddress.allowed)")
      }
      if let password = xmppPassword(section), let username { parents = Access(username: username, password: password) }
    }
    guard let account = account.flatMap({ AccountAddress($0) }), let password else { return nil }
    return Meeting(
      kind: .xmpp(account: account, host: host, port: port, authorities: authorities),
      access: Access(username: "\(account)", password: password), parents: parents)
  }

  private static func xmppPassword(_ entry: ConfigurationSection) -> ConfiguredValue? {
    guard let node = entry.values["password"], !node.isNull else {
      entry.reader.report(entry.node, entry.path("password"), "is missing: text, or {file: PATH}")
      return nil
    }
    return value(node, entry.path("password"), entry.reader)
  }

  private typealias Access = Meeting.Access

  private static func parents(_ entry: ConfigurationSection) -> Access? {
    guard let node = entry.values["parents"], !node.isNull,
      let section = entry.section("parents", keys: ["username", "password"])
    else { return nil }
    if section.values.isEmpty { entry.reader.report(node, section.path("username"), "is missing") }
    return access(section)
  }

  /// `username` and `password`; nil if neither is given, or a value is refused.
  private static func access(_ entry: ConfigurationSection) -> Access? {
    let username = entry.text("username", what: "1 to 512 bytes of printable text") { text in
      (1...512).contains(text.utf8.count) && text.unicodeScalars.allSatisfy(\.isPrintable)
    }
    var password: ConfiguredValue?
    if let node = entry.values["password"], !node.isNull {
      password = value(node, entry.path("password"), entry.reader)
      // MQTT 3.1.1 section 3.1.2.9: no password without a user name.
      if entry.values["username"]?.isNull ?? true {
        entry.reader.report(node, entry.path("username"), "is missing: a password needs one")
      }
    }
    return username.map { Access(username: $0, password: password) }
  }

  /// Text that has to be there.
  private static func required(
    _ key: String, of entry: ConfigurationSection, what: String, isAllowed: (String) -> Bool
  ) -> String? {
    if let node = entry.values[key], node.isNull {
      entry.reader.report(node, entry.path(key), "must be \(what), but is \(node.kind)")
    }
    return entry.text(key, what: what, isAllowed: isAllowed)
  }

  private static func sha256(_ text: String) -> [UInt8]? {
    [UInt8](hexadecimal: text).flatMap { $0.count == 32 ? $0 : nil }
  }
}
