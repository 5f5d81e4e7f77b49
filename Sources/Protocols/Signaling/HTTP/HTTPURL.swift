public import Wire

/// Why a text is not a URL that we would request.
public struct HTTPURLError: Error, Hashable, Sendable, CustomStringConvertible {
  /// For a person. Does not repeat the URL, which may contain secrets.
  public var reason: String
  public var description: String { reason }
}

/// Scheme, host and port: the scope of a credential or a connection. RFC 6454 section 4.
public struct HTTPOrigin: Hashable, Sendable, CustomStringConvertible {
  public enum Scheme: String, Sendable {
    case http
    case https

    public var defaultPort: UInt16 { self == .https ? 443 : 80 }
  }

  public enum Host: Hashable, Sendable, CustomStringConvertible {
    /// Lower case, without a trailing dot.
    case name(String)
    case address(IPAddress)

    /// For a resolver or a person: IPv6 without brackets.
    public var description: String {
      switch self {
      case .name(let name): name
      case .address(let address): address.description
      }
    }
  }

  public var scheme: Scheme
  public var host: Host
  public var port: UInt16

  public init(scheme: Scheme, host: Host, port: UInt16? = nil) {
    self.scheme = scheme
    self.host = host
    self.port = port ?? scheme.defaultPort
  }

  /// Host and port as in the `Host` field: the port only when it is not the scheme's default. RFC 9110 section 7.2.
  public var authority: String {
    var text = host.description
    if case .address(let address) = host, address.isIPv6 { text = "[\(text)]" }
    return port == scheme.defaultPort ? text : "\(text):\(port)"
  }

  /// `https://192.0.2.7:8443`.
  public var description: String { "\(scheme.rawValue)://\(authority)" }
}

/// An absolute `http` or `https` URL without user information and fragment. RFC 9110 section 4.2, RFC 3986.
public struct HTTPURL: Hashable, Sendable, CustomStringConvertible {
  public var origin: HTTPOrigin
  /// Percent-encoded, begins with a slash, without `.` and `..` segments.
  public private(set) var path: String
  /// Percent-encoded, without the question mark; nil without one.
  public private(set) var query: String?

  /// Longer ones are refused; servers take about 8,000 bytes.
  public static let maximumBytes = 4096

  init(origin: HTTPOrigin, path: String, query: String?) {
    self.origin = origin
    self.path = Self.removingDotSegments(path)
    self.query = query
  }

  /// An absolute URL; a fragment is removed.
  public init(_ text: String) throws(HTTPURLError) {
    let reference = try URLReference(text)
    guard let scheme = reference.scheme else {
      throw HTTPURLError(reason: "a URL begins with https:// or http://")
    }
    guard let authority = reference.authority else { throw HTTPURLError(reason: "the URL has no host") }
    let origin = try HTTPOrigin(scheme: Self.scheme(scheme), authority: authority)
    self.init(origin: origin, path: reference.path, query: reference.query.map(String.init))
  }

  /// Path and query, as in the request line. RFC 9112 section 3.2.1.
  public var target: String { query.map { "\(path)?\($0)" } ?? path }

  public var description: String { origin.description + target }

  /// A reference from a response to a request for this URL (`Location`): absolute, or relative to this one.
  /// RFC 3986 section 5.2.2, RFC 9110 section 10.2.2.
  public func resolving(_ text: String) throws(HTTPURLError) -> HTTPURL {
    let reference = try URLReference(text)
    let query = reference.query.map(String.init)
    if let scheme = reference.scheme {
      guard let authority = reference.authority else { throw HTTPURLError(reason: "the URL has no host") }
      let origin = try HTTPOrigin(scheme: Self.scheme(scheme), authority: authority)
      return HTTPURL(origin: origin, path: reference.path, query: query)
    }
    if let authority = reference.authority {
      let origin = try HTTPOrigin(scheme: origin.scheme, authority: authority)
      return HTTPURL(origin: origin, path: reference.path, query: query)
    }
    if reference.path.isEmpty { return HTTPURL(origin: origin, path: path, query: query ?? self.query) }
    if reference.path.utf8.first == UInt8(ascii: "/") {
      return HTTPURL(origin: origin, path: reference.path, query: query)
    }
    // RFC 3986 section 5.2.3: the reference replaces everything after the last slash of the base.
    let end = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.endIndex
    return HTTPURL(origin: origin, path: path[..<end] + reference.path, query: query)
  }

  private static func scheme(_ text: Substring) throws(HTTPURLError) -> HTTPOrigin.Scheme {
    guard let scheme = HTTPOrigin.Scheme(rawValue: text.lowercased()) else {
      throw HTTPURLError(reason: "the URL is neither https nor http")
    }
    return scheme
  }

  /// RFC 3986 section 5.2.4. The result begins with a slash.
  private static func removingDotSegments(_ path: String) -> String {
    var kept: [Substring] = []
    var segments = path.split(separator: "/", omittingEmptySubsequences: false)[...]
    if segments.first?.isEmpty == true { segments.removeFirst() }
    var endsInSlash = false
    for segment in segments {
      endsInSlash = segment == "." || segment == ".."
      switch segment {
      case ".": break
      case "..": _ = kept.popLast()
      default: kept.append(segment)
      }
    }
    if endsInSlash { kept.append("") }
    return "/" + kept.joined(separator: "/")
  }
}

extension HTTPOrigin {
  /// From the text between `//` and the path.
  init(scheme: Scheme, authority: Substring) throws(HTTPURLError) {
    // A name before an @ makes a link look as if it led elsewhere, and a password does not belong in a URL.
    // RFC 9110 section 4.2.4.
    guard !authority.utf8.contains(UInt8(ascii: "@")) else {
      throw HTTPURLError(reason: "the URL names a user; give the token separately")
    }
    var host = authority
    var portText: Substring = ""
    let end = host.utf8.lastIndex(of: UInt8(ascii: "]")) ?? host.startIndex
    if let colon = host.utf8[end...].lastIndex(of: UInt8(ascii: ":")) {
      portText = host[host.utf8.index(after: colon)...]
      host = host[..<colon]
    }
    var port: UInt16?
    if !portText.isEmpty {
      guard portText.utf8.allSatisfy(\.isDigit), let number = UInt16(portText), number > 0 else {
        throw HTTPURLError(reason: "the port of the URL is not a number of 1 to 65535")
      }
      port = number
    }
    self.init(scheme: scheme, host: try Host(host), port: port)
  }
}

extension HTTPOrigin.Host {
  /// RFC 3986 section 3.2.2, without zones and percent-encoding.
  init(_ text: Substring) throws(HTTPURLError) {
    if text.utf8.first == UInt8(ascii: "["), text.utf8.last == UInt8(ascii: "]") {
      guard let address = IPAddress(String(text.dropFirst().dropLast())), text.utf8.contains(UInt8(ascii: ":")) else {
        throw HTTPURLError(reason: "the text in brackets is not an IPv6 address")
      }
      self = .address(address)
      return
    }
    var name = text.lowercased()
    if name.utf8.last == UInt8(ascii: ".") { name.removeLast() }
    if let address = IPAddress(name), !address.isIPv6 {
      self = .address(address)
      return
    }
    let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard (1...253).contains(name.utf8.count),
      labels.allSatisfy({ (1...63).contains($0.count) && $0.allSatisfy(Self.isNameByte) })
    else {
      throw HTTPURLError(reason: "the URL has no usable host; put an IPv6 address in brackets")
    }
    // Resolvers read 127.1 and 0x7f000001 as addresses, so a name must not look like a number.
    guard let last = labels.last, last.contains(where: { !$0.isDigit }), !last.starts(with: "0x".utf8)
    else {
      throw HTTPURLError(reason: "the host of the URL is neither a name nor an IPv4 address")
    }
    self = .name(name)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
