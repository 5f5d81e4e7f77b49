public import Signaling
public import Wire

/// Where a push service takes messages for one browser: an address that a browser has named, so it decides to whom this
/// child makes requests. It is a secret, too: who knows it may send to the browser, if unreadable things.
public struct PushEndpoint: Hashable, Sendable {
  public let url: HTTPURL

  /// Those of browsers have about 200.
  public static let maximumBytes = 1024

  /// Why an address is not taken; for people, without repeating it.
  public struct Refusal: Error, Hashable, Sendable {
    public let reason: String
  }

  /// - Parameter mayBePrivate: the push service may be in a private network, on any port.
  public init(_ text: String, mayBePrivate: Bool) throws(Refusal) {
    guard (1...Self.maximumBytes).contains(text.utf8.count) else {
      throw Refusal(reason: "is an address of at most \(Self.maximumBytes) bytes")
    }
    do throws(HTTPURLError) {
      url = try HTTPURL(text)
    } catch {
      throw Refusal(reason: "is no address: \(error.reason)")
    }
    guard url.origin.scheme == .https else { throw Refusal(reason: "begins with https://") }
    guard mayBePrivate || Self.isPublic(url.origin.host) else {
      throw Refusal(reason: "is in a private network, where no push service is")
    }
  }

  /// Whose push service it is, by the name that only its maker has; nil for any other.
  public var maker: String? {
    guard case .name(let name) = url.origin.host else { return nil }
    return Self.makers.first { name == $0.host || name.hasSuffix("." + $0.host) }?.maker
  }

  private static let makers = [
    (host: "push.apple.com", maker: "Apple"), (host: "fcm.googleapis.com", maker: "Google"),
    (host: "android.googleapis.com", maker: "Google"), (host: "push.services.mozilla.com", maker: "Mozilla"),
    (host: "notify.windows.com", maker: "Microsoft"),
  ]

  /// A name can have any address: `isPublic` of an address decides when it is known.
  private static func isPublic(_ host: HTTPOrigin.Host) -> Bool {
    switch host {
    case .address(let address): return address.isPublic
    case .name(let name):
      let labels = name.split(separator: ".", omittingEmptySubsequences: false)
      let local: Set<Substring> = ["localhost", "local", "internal", "home", "lan", "arpa", "onion", "test", "invalid"]
      return labels.count > 1 && !labels.contains("") && !local.contains(labels[labels.count - 1])
    }
  }
}

extension IPAddress {
  /// Whether hosts all over the Internet can have it. IANA special-purpose address registries (RFC 6890).
  public var isPublic: Bool {
    switch self {
    case .v4(let value):
      return !Self.specialV4.contains { value >> (32 - $0.length) == $0.prefix >> (32 - $0.length) }
    case .v6(let high, let low):
      // An IPv4 address behind NAT64: RFC 6052 section 2.1.
      if high == 0x0064_ff9b_0000_0000, low >> 32 == 0 { return IPAddress.v4(UInt32(truncatingIfNeeded: low)).isPublic }
      // Global unicast, but for 6to4, which holds any IPv4 address, Teredo and other protocols' (2001::/23), and documentation.
      return high >> 61 == 1 && high >> 48 != 0x2002 && high >> 41 != 0x2001_0000 >> 9 && high >> 32 != 0x2001_0db8
    }
  }

  private static let specialV4: [(prefix: UInt32, length: UInt32)] = [
    (0x0000_0000, 8), (0x0a00_0000, 8), (0x6440_0000, 10), (0x7f00_0000, 8), (0xa9fe_0000, 16), (0xac10_0000, 12),
    (0xc000_0000, 24), (0xc000_0200, 24), (0xc058_6300, 24), (0xc0a8_0000, 16), (0xc612_0000, 15), (0xc633_6400, 24),
    (0xcb00_7100, 24), (0xe000_0000, 4), (0xf000_0000, 4),
  ]
}
