internal import Wire

// `Link` fields that name STUN and TURN servers. RFC 9725 section 4.6, RFC 8288 section 3.
extension ICEServerDocument {
  /// Further ones are ignored.
  static let maximumLinked = 16

  /// The servers of all `Link` values, one for each link. Malformed links are skipped: a viewer in the same home needs no
  /// server.
  static func linked(in values: [String]) -> [ICEServerDocument] {
    var servers: [ICEServerDocument] = []
    for value in values {
      var scanner = LinkScanner(value)
      while servers.count < maximumLinked, let link = scanner.next() {
        if let server = ICEServerDocument(link) { servers.append(server) }
      }
    }
    return servers
  }

  private init?(_ link: LinkScanner.Link) {
    let relations = link.parameters["rel"]?.lowercased().split(separator: " ") ?? []
    // RFC 7064, RFC 7065.
    let scheme = link.target.prefix { $0 != ":" }.lowercased()
    guard relations.contains("ice-server"), ["stun", "stuns", "turn", "turns"].contains(scheme),
      link.target.utf8.count <= 512, link.target.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
      // The only other type is OAuth (RFC 7635).
      link.parameters["credential-type"].map({ $0.lowercased() == "password" }) ?? true
    else { return nil }
    self.init(urls: [link.target], username: link.parameters["username"], credential: link.parameters["credential"])
  }
}

/// Parses the links of one field value.
private struct LinkScanner {
  struct Link {
    var target: String
    /// Names in lower case; the first of a name counts. RFC 8288 section 3.3.
    var parameters: [String: String] = [:]
  }

  private var rest: Substring.UTF8View

  init(_ text: String) {
    rest = text[...].utf8
  }

  /// Nil at the end, and at anything that is not a link.
  mutating func next() -> Link? {
    skip { $0 == UInt8(ascii: ",") || Self.isSpace($0) }
    guard rest.first == UInt8(ascii: "<"), let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
    var link = Link(target: String(Substring(rest[rest.startIndex..<end].dropFirst())))
    rest = rest[rest.index(after: end)...]
    skip(Self.isSpace)
    while rest.first == UInt8(ascii: ";") {
      skip { $0 == UInt8(ascii: ";") || Self.isSpace($0) }
      let name = take { ![UInt8(ascii: "="), UInt8(ascii: ";"), UInt8(ascii: ",")].contains($0) && !Self.isSpace($0) }
      skip(Self.isSpace)
      var value = ""
      if rest.first == UInt8(ascii: "=") {
        rest.removeFirst()
        skip(Self.isSpace)
        value = takeValue()
        skip(Self.isSpace)
      }
      let key = name.lowercased()
      if link.parameters[key] == nil, link.parameters.count < 16 { link.parameters[key] = value }
    }
    return link
  }

  /// A token or a quoted string. RFC 9110 section 5.6.
  private mutating func takeValue() -> String {
    guard rest.first == UInt8(ascii: "\"") else {
      return take { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") && !Self.isSpace($0) }
    }
    rest.removeFirst()
    var bytes: [UInt8] = []
    while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
      if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() {
        bytes.append(escaped)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private mutating func skip(_ matches: (UInt8) -> Bool) {
    rest = rest.drop(while: matches)
  }

  private mutating func take(_ matches: (UInt8) -> Bool) -> String {
    let taken = rest.prefix(while: matches)
    rest = rest[taken.endIndex...]
    return String(decoding: taken, as: UTF8.self)
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 32 || byte == 9
  }
}
