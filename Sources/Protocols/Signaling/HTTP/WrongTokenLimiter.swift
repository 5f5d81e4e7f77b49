public import Wire

/// Slows down clients that send wrong tokens, on every path that asks for one. A right token is never held back: it
/// cannot be guessed, and a player with an old token must not lock out others behind the same address.
public struct WrongTokenLimiter: Sendable {
  /// Ten at once, then one in six seconds for each address.
  private var failures = RateLimiter<String>(burst: 10, interval: .seconds(6))

  public init() {}

  /// Counts `authorization` if it is invalid, and makes it `limited` when there have been too many.
  ///
  /// - Parameter client: what requests are counted by, such as the client's address.
  public mutating func count(_ authorization: Authorization, of client: String, now: Instant) -> Authorization {
    guard authorization == .invalid, case .refused(let wait) = failures.admit(client, now: now) else {
      return authorization
    }
    return .limited(retryAfter: wait)
  }
}

extension Problem {
  /// Why a request is refused that needs a token; nil when its token is right.
  public init?(refusing authorization: Authorization) {
    switch authorization {
    case .granted: return nil
    case .none: self.init(401, "send Authorization: Bearer TOKEN; 'cradle-child token add' makes one")
    case .invalid: self.init(401, "the token is wrong, expired or revoked")
    case .limited(let wait): self.init(429, "too many wrong tokens", retryAfter: wait)
    }
  }
}
