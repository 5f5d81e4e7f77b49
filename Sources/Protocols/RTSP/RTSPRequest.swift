/// A player's request. RFC 2326 section 6.
public struct RTSPRequest: Hashable, Sendable {
  public struct Header: Hashable, Sendable {
    /// In lower case.
    public var name: String
    public var value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  public var method: String
  /// As it was sent: absolute, or `*`.
  public var uri: String
  public var headers: [Header]

  public init(method: String, uri: String, headers: [Header] = []) {
    self.method = method
    self.uri = uri
    self.headers = headers
  }

  /// The first value of a header, by its name in lower case.
  public subscript(name: String) -> String? { headers.first { $0.name == name }?.value }

  /// The part of the address behind host and port, without the query; empty or from a slash on.
  public var path: String {
    var rest = uri.prefix { $0 != "?" }
    if let scheme = rest.firstRange(of: "://") { rest = rest[scheme.upperBound...].drop { $0 != "/" } }
    return String(rest)
  }

  /// The part behind the question mark; empty without one.
  public var query: String { String(uri.drop { $0 != "?" }.dropFirst()) }
}
