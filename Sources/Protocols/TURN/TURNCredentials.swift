public import Wire

/// A long-term credential. RFC 8489 section 9.2. Its description leaves the password out.
public struct TURNCredentials: Hashable, Sendable {
  /// Both are sent and hashed as they are: text beyond ASCII must already be prepared with OpaqueString (RFC 8265).
  public var username: String
  public var password: String
  /// When the server stops accepting it; nil if it lasts.
  public var expiresAt: Instant?

  public init(username: String, password: String, expiresAt: Instant? = nil) {
    self.username = username
    self.password = password
    self.expiresAt = expiresAt
  }

  /// Makes a credential that expires, from the secret that its maker shares with the server.
  /// draft-uberti-behave-turn-rest-00 section 2.2: the name is `time:name`, the password is its HMAC-SHA1 in Base64.
  ///
  /// - Parameters:
  ///   - name: whose it is, for the server's log; may be empty.
  ///   - lifetime: whole seconds, counted from `now`.
  ///   - clock: the server's wall clock must agree with it.
  public init(
    sharedSecret: [UInt8], name: String, lifetime: Duration, clock: WallClockReference, now: Instant,
    hashes: any Hashes
  ) {
    let seconds = clock.unixNanoseconds(at: now) / 1_000_000_000 &+ max(1, lifetime.components.seconds)
    username = name.isEmpty ? "\(seconds)" : "\(seconds):\(name)"
    password = Self.base64(hashes.hmacSHA1(key: sharedSecret, message: Array(username.utf8)))
    expiresAt = Self.expiry(of: username, clock: clock)
  }

  /// RFC 4648 section 4, with padding.
  private static func base64(_ bytes: [UInt8]) -> String {
    let text = Base64URL.encode(bytes).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
    return String(text) + String(repeating: "=", count: (4 - text.count % 4) % 4)
  }

  /// When a username of that form expires; nil for any other.
  public static func expiry(of username: String, clock: WallClockReference) -> Instant? {
    let digits = username.prefix { $0 != ":" }
    // Ten digits last until the year 2286; fewer are somebody's name.
    guard digits.utf8.count == 10, digits.utf8.allSatisfy({ (48...57).contains($0) }), let seconds = Int64(digits)
    else {
      return nil
    }
    let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? nil : clock.instant + .nanoseconds(nanoseconds &- clock.unixNanoseconds)
  }
}

extension TURNCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "credentials of \(username)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["username": username]) }
}
