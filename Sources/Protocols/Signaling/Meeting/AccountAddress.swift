/// The address of an account at an XMPP server, `USER@SERVER`: a bare JID (RFC 7622) of ASCII characters.
public struct AccountAddress: RawRepresentable, Codable, Hashable, Sendable, CustomStringConvertible {
  /// In lower case.
  public var user: String
  /// A name in lower case.
  public var server: String

  /// What a text must be, after "must be".
  public static let allowed = "an account such as cradle@xmpp.example.org"

  /// Nil for anything else, also for an address with a resource.
  public init?(_ text: String) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, (1...255).contains(parts[0].utf8.count), (1...255).contains(parts[1].utf8.count) else {
      return nil
    }
    // RFC 7622 section 3.3.1.
    let excluded = "\"&'/:<>@".utf8
    guard parts[0].utf8.allSatisfy({ (0x21...0x7e).contains($0) && !excluded.contains($0) }),
      parts[1].utf8.allSatisfy({ $0.isDigit || $0.isLetter || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") })
    else { return nil }
    user = parts[0].lowercased()
    server = parts[1].lowercased()
  }

  public init?(rawValue: String) { self.init(rawValue) }

  public var rawValue: String { "\(user)@\(server)" }

  public var description: String { rawValue }

  /// A full JID.
  public func at(_ resource: String) -> String { "\(self)/\(resource)" }
}
