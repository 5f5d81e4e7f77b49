/// How the child's end of pairing is set. The defaults are what a family should have.
public struct PairingConfiguration: Hashable, Sendable {
  /// Long enough to walk to the other room and type eight digits.
  public var windowDuration: Duration = .seconds(300)
  /// Three guesses at eight digits succeed once in 33 million windows.
  public var tries = 3
  /// How long after each try the next one waits. Growing, so that a script gains nothing and a person hardly notices.
  public var delays: [Duration] = [.seconds(2), .seconds(5)]
  /// How long the parent may take from the child's share to its confirmation; all of it is done by programs.
  public var sessionDuration: Duration = .seconds(15)
  /// PBKDF2 over the code. The code dies with the window, so this guards what a crash dump shows, not years of secrecy:
  /// 0.2 s on the smallest board.
  public var iterations = 20_000
  public var maximumInvites = 16

  public init() {}
}

/// What the parent that uses a code or link gets.
public struct PairingTerms: Hashable, Sendable {
  public var permissions: Permissions
  /// What it is called here; nil for what it calls itself.
  public var name: String?
  /// From when on it is refused again; nil for never.
  public var expiresAt: UnixTime?

  public init(permissions: Permissions = .all, name: String? = nil, expiresAt: UnixTime? = nil) {
    self.permissions = permissions
    self.name = name
    self.expiresAt = expiresAt
  }
}

/// For the log.
public enum PairingEvent: Hashable, Sendable {
  public enum Means: Hashable, Sendable {
    case code, link
  }

  public enum Closing: Hashable, Sendable {
    case paired, tooManyWrongCodes, timeIsUp, byHand
    /// Whoever opened it may not offer this any more.
    case issuerGone
  }

  case windowOpened
  case windowClosed(Closing)
  case wrongCode(triesLeft: Int)
  /// A link was known, but its secret was not.
  case wrongProof
  case invited(PairingTerms)
  /// An invite was not used in time.
  case inviteExpired(PairingTerms)
  /// An invite was taken back, or whoever made it may not offer this any more.
  case inviteRevoked(PairingTerms)
  case paired(PairRecord, CheckWords, Means)
}
