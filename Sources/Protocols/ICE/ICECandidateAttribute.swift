import Wire

/// Why a candidate's text was rejected.
public enum ICECandidateError: Error, Hashable, Sendable {
  /// The candidate breaks the grammar of RFC 8839 section 5.1; the text names the field.
  case malformed(String)
  /// An unknown candidate type; the line is to be ignored.
  case unsupportedType(String)
}

extension ICECandidate {
  /// Longer lines are rejected; real ones stay below 250 bytes.
  private static let maximumLength = 1024
  /// More are not kept. Real ones have up to five: generation, ufrag, network-id, network-cost, tcptype.
  private static let maximumExtensions = 16
  /// RFC 8839 section 5.1, RFC 6544 section 4.5, and those of libwebrtc. One of them after a name is the next name: the first
  /// has no value.
  private static let knownNames: Set<Substring> = [
    "raddr", "rport", "ufrag", "generation", "network-id", "network-cost", "tcptype",
  ]

  /// Reads the value of a candidate attribute, with or without `a=` in front.
  ///
  /// For example `candidate:842163049 1 udp 1677729535 192.0.2.1 46154 typ srflx raddr 10.0.0.1 rport 9`.
  /// RFC 8839 section 5.1.
  public init(attribute text: String) throws(ICECandidateError) {
    guard text.utf8.count <= Self.maximumLength else { throw .malformed("length") }
    var line = text[...]
    while let last = line.last, last.isWhitespace { line.removeLast() }
    if line.hasPrefix("a=") { line.removeFirst(2) }
    guard line.hasPrefix("candidate:") else { throw .malformed("candidate:") }
    let fields = line.dropFirst("candidate:".count).split(separator: " ")
    guard fields.count >= 8 else { throw .malformed("number of fields") }

    guard (1...32).contains(fields[0].utf8.count), fields[0].utf8.allSatisfy(Self.isICECharacter) else {
      throw .malformed("foundation")
    }
    guard let component = UInt16(digits: fields[1]), (1...256).contains(component) else {
      throw .malformed("component")
    }
    guard (1...16).contains(fields[2].utf8.count) else { throw .malformed("transport") }
    // RFC 8839 allows 1 to 2^31 - 1; values outside that range are accepted as they are.
    guard let priority = UInt32(digits: fields[3]) else { throw .malformed("priority") }
    guard let port = UInt16(digits: fields[5]) else { throw .malformed("port") }
    guard let address = Self.address(fields[4], port: port) else { throw .malformed("connection-address") }
    guard fields[6] == "typ" else { throw .malformed("typ") }
    guard let type = ICECandidateType(rawValue: String(fields[7])) else {
      throw .unsupportedType(String(fields[7].prefix(32)))
    }

    // What is odd about an extension costs it alone.
    var rest = fields.dropFirst(8)
    var relatedIP: IPAddress?
    var relatedPort: UInt16?
    var usernameFragment: String?
    var extensions: [Extension] = []
    while let name = rest.popFirst(), let value = rest.first {
      if Self.knownNames.contains(value) { continue }
      rest.removeFirst()
      switch name {
      case "raddr": relatedIP = IPAddress(String(value))
      case "rport": relatedPort = UInt16(digits: value)
      case "ufrag": usernameFragment = String(value)
      case _ where extensions.count == Self.maximumExtensions: break
      default: extensions.append(Extension(name: String(name), value: String(value)))
      }
    }
    self.init(
      foundation: String(fields[0]), component: Int(component), transport: Self.transport(fields[2]),
      priority: priority, address: address, type: type, usernameFragment: usernameFragment, extensions: extensions)
    // Browsers write 0.0.0.0 port 0 (or 9) for a hidden base.
    if let relatedIP, let relatedPort, !relatedIP.isUnspecified {
      relatedAddress = TransportAddress(ip: relatedIP, port: relatedPort)
    }
  }

  /// The value of the candidate attribute, without `a=`. RFC 8839 section 5.1.
  public var attribute: String {
    let (host, port) =
      switch address {
      case .ip(let address): (address.ip.description, address.port)
      case .name(let name, let port): (name, port)
      }
    var text = "candidate:\(foundation) \(component) \(transport.text) \(priority) \(host) \(port) typ \(type.rawValue)"
    if let relatedAddress {
      text += " raddr \(relatedAddress.ip) rport \(relatedAddress.port)"
    } else if type != .host {
      // RFC 8839 section 5.1 requires both for these types; this hides them.
      text += " raddr 0.0.0.0 rport 9"
    }
    for item in extensions { text += " \(item.name) \(item.value)" }
    if let usernameFragment { text += " ufrag \(usernameFragment)" }
    return text
  }

  private static func isICECharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
      true
    default: false
    }
  }

  private static func transport(_ text: Substring) -> ICETransport {
    switch text.lowercased() {
    case "udp": .udp
    case "tcp": .tcp
    default: .other(String(text))
    }
  }

  private static func address(_ text: Substring, port: UInt16) -> Address? {
    if let ip = IPAddress(String(text)) { return .ip(TransportAddress(ip: ip, port: port)) }
    // A name is letters, digits, hyphens and dots (RFC 8839 section 5.1 allows an FQDN); dotted decimals that are not
    // an address are still rejected.
    guard (1...253).contains(text.utf8.count), text.contains(where: \.isLetter),
      text.utf8.allSatisfy({
        isICECharacter($0) && $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/")
          || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
      })
    else { return nil }
    return .name(String(text), port: port)
  }
}

extension FixedWidthInteger {
  /// From decimal digits alone: no sign, no empty text.
  fileprivate init?(digits: Substring) {
    guard (1...10).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    self.init(digits)
  }
}
