internal import DeviceNames
internal import Signaling
public import Wire

/// The content of config/rendezvous.yaml. interfaces/commands.md, "cradle-rendezvous".
public struct RendezvousConfiguration: Sendable, Hashable {
  /// The server's host names, lower case, as they stand in the configurations of children: a child signs them. 1...8.
  public var names: [String]
  /// Port 443 gets through where others do not.
  public var listen = ListenAddress(host: "::", port: 443)
  /// Proxies in front of it, whose connections begin by saying where they come from (the PROXY protocol).
  public var proxies: Set<IPAddress> = []
  /// PEM files; nil: self-signed over a key of the server's own, which children then know by its digest.
  public var tls: ChildConfiguration.TLSFiles?
  /// Ids of the children that may use it; nil: any.
  public var children: Set<String>?
  /// How many may be here at once. A child takes about 20 kB.
  public var maximumChildren = 1000
  /// Lent to children that are listed, and to the parents that they vouch for.
  public var iceServers: [ChildConfiguration.ICEServerEntry] = []
  /// Where any child may use it: those that have been coming for so long are lent TURN servers, too; nil: none.
  public var lendAfter: Duration?

  /// Whether a child, and the parents that it vouches for, get credentials for the TURN servers. Anybody can make the key of
  /// another child, so being one is no reason.
  ///
  /// - Parameter time: since when it has been coming.
  public func lends(to child: String, knownFor time: Duration) -> Bool {
    children?.contains(child) ?? lendAfter.map { time >= $0 } ?? false
  }

  /// Reads a configuration file; nil if there is none. Throws all errors found in it.
  public static func load(path: String) throws(ConfigurationErrors) -> RendezvousConfiguration? {
    guard let bytes = try ConfigurationReader.content(of: path) else { return nil }
    return try parse(bytes, file: path)
  }

  /// Parses the text of a configuration file. `file` is only used in errors.
  public static func parse(_ bytes: [UInt8], file: String) throws(ConfigurationErrors) -> RendezvousConfiguration {
    guard let result = try ConfigurationReader.parse(bytes, file: file, read: read) else {
      throw ConfigurationErrors(errors: [ConfigurationError(file: file, key: "names", message: missingNames)])
    }
    return result
  }

  private static let missingNames =
    "is missing: the host names under which baby units reach this server, such as [meet.example.org]"
  private static let keys = [
    "names", "listen", "proxies", "tls", "children", "maximum-children", "ice-servers", "lend-after",
  ]

  private static func read(_ root: YAMLNode, _ reader: ConfigurationReader) -> RendezvousConfiguration {
    var result = RendezvousConfiguration(names: [])
    guard let top = reader.section(root, path: "", keys: keys) else { return result }
    result.names = names(top)
    result.listen = top.value("listen", default: result.listen)
    result.proxies = top.addresses("proxies")
    result.tls = ChildConfiguration.tls(top)
    result.children = children(top)
    result.maximumChildren = top.integer("maximum-children", default: result.maximumChildren, in: 1...100_000)
    if let entries = top.list("ice-servers", maximum: 8) {
      result.iceServers = entries.indices.compactMap {
        ChildConfiguration.iceServer(entries[$0], at: $0, reader, usualLifetime: .seconds(86_400))
      }
    }
    result.lendAfter = lendAfter(top, isOpen: result.children == nil)
    return result
  }

  private static func lendAfter(_ top: ConfigurationSection, isOpen: Bool) -> Duration? {
    let seconds = top.seconds("lend-after", in: 0...365 * 86_400, "0s to 365d, such as 7d")
    if let node = top.values["lend-after"], seconds != nil, !isOpen {
      top.reader.report(node, "lend-after", "is for `children: open`: listed baby units are lent the servers at once")
    }
    return seconds.map { .seconds(Int64($0)) }
  }

  private static func names(_ top: ConfigurationSection) -> [String] {
    guard let node = top.values["names"], !node.isNull, node.sequence?.isEmpty != true else {
      top.reader.report(top.values["names"] ?? top.node, "names", missingNames)
      return []
    }
    return (top.list("names", maximum: 8) ?? []).compactMap { node in
      guard let name = node.scalar?.string.lowercased(), let origin = (try? HTTPURL("https://\(name)/"))?.origin,
        origin.authority == name, origin.port == HTTPOrigin.Scheme.https.defaultPort
      else {
        top.reader.report(node, "names", "must be host names without a port; but one is \(node.kind)")
        return nil
      }
      // As children sign it: an IPv6 address without its brackets.
      return "\(origin.host)"
    }
  }

  private static func children(_ top: ConfigurationSection) -> Set<String>? {
    guard let node = top.values["children"], node.scalar?.string != "open" else { return nil }
    guard let entries = node.sequence else {
      top.reader.report(node, "children", "must be open, or a list of ids; but is \(node.kind)")
      return []
    }
    return Set(
      entries.compactMap { entry in
        guard let id = entry.scalar?.string, SignedMessage.isNodeID(id) else {
          top.reader.report(
            entry, "children",
            "an id is 16 hexadecimal digits, as `cradle-child status` shows it (in quotes); but one is \(entry.kind)")
          return nil
        }
        return id
      })
  }
}
