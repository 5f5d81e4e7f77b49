/// Settings of the child's end of pairing. The defaults are meant for a family.
public struct PairingConfiguration: Hashable, Sendable {
  /// Long enough to walk to the other room and type eight digits.
  public var windowDuration: Duration = .seconds(300)
  /// Three guesses at eight digits succeed once in 33 million windows.
  public var tries = 3
  /// Delay after each try before the next one. It grows, so that a script gains nothing and a person hardly notices.
  public var delays: [Duration] = [.seconds(2), .seconds(5)]
  /// Maximum time from the child's share to the parent's confirmation; no person is involved.
  public var sessionDuration: Duration = .seconds(15)
  /// PBKDF2 over the code. The code is worthless after the window, so this only protects against a crash dump: 0.2 s on
  /// the smallest board.
  public var iterations = 20_000
  public var maximumInvites = 16
  /// How long the parent's verdict on the check words is taken.
  public var verdictDuration: Duration = .seconds(600)

  public init() {}
}

/// What a parent that pairs with a code or link gets.
public struct PairingTerms: Hashable, Sendable {
  public var permissions: Permissions
  /// Its name here; nil for the name it gives itself.
  public var name: String?
  /// When it starts to be refused again; nil for never.
  public var expiresAt: UnixTime?

  public init(permissions: Permissions = .all, name: String? = nil, expiresAt: UnixTime? = nil) {
    self.permissions = permissions
    self.name = name
    self.expiresAt = expiresAt
  }

  /// Whether they allow everything that `other` does, for at least as long.
  func covers(_ other: PairingTerms) -> Bool {
    let lasts = expiresAt.map { end in other.expiresAt.map { $0 <= end } ?? false } ?? true
    return lasts && permissions.isSuperset(of: other.permissions)
  }

  /// What a parent has that is paired under `known` and pairs again: never less than before, and nothing that neither of the
  /// two gives. Nil where one record cannot hold that: more permissions for a shorter time.
  func extending(_ known: PairRecord) -> PairingTerms? {
    let before = PairingTerms(permissions: known.permissions, name: known.name, expiresAt: known.expiresAt)
    if covers(before) { return self }
    if before.covers(self) { return before }
    guard expiresAt == before.expiresAt else { return nil }
    return PairingTerms(permissions: permissions.union(before.permissions), name: name, expiresAt: expiresAt)
  }
}

/// For the log.
public enum PairingEvent: Hashable, Sendable {
  public enum Means: Hashable, Sendable {
    case code, link
  }

  public enum Closing: Hashable, Sendable {
    case paired, tooManyWrongCodes, timeIsUp, byHand
    /// Its issuer may no longer offer this.
    case issuerGone
  }

  case windowOpened
  case windowClosed(Closing)
  case wrongCode(triesLeft: Int)
  /// The link was known, but its secret was wrong.
  case wrongProof
  case invited(PairingTerms)
  /// An invite was not used in time.
  case inviteExpired(PairingTerms)
  /// An invite was revoked, or its issuer may no longer offer this.
  case inviteRevoked(PairingTerms)
  case paired(PairRecord, CheckWords, Means)
}
