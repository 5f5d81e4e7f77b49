internal import Wire

/// The time in which a code is valid: when it begins and ends, and how often it may be tried. INTERFACES.md, "Pairing".
struct PairingWindow: Sendable {
  /// What an open window consists of.
  struct Opening: Sendable {
    let salt: [UInt8]
    let record: SPAKE2PlusRecord
    let terms: PairingTerms
    let issuer: PairingIssuer
    let closesAt: Instant
    /// Tries that were answered. Each counts from the answer on, which tells the parent whether the code was right; a
    /// parent that falls silent then has guessed as well as one that goes on.
    var tries = 0
    var nextTryAt: Instant
    /// Tries that were answered and may still turn out right.
    var pending: Set<[UInt8]> = []
  }

  enum State: Sendable {
    case closed
    case open(Opening)
  }

  /// What a try that was wrong leaves.
  enum Verdict: Hashable, Sendable {
    case triesLeft(Int)
    case closed
  }

  private let configuration: PairingConfiguration
  private(set) var state = State.closed

  init(configuration: PairingConfiguration) {
    self.configuration = configuration
  }

  var opening: Opening? {
    if case .open(let opening) = state { opening } else { nil }
  }

  mutating func open(
    salt: [UInt8], record: SPAKE2PlusRecord, terms: PairingTerms, issuer: PairingIssuer, now: Instant
  ) {
    state = .open(
      Opening(
        salt: salt, record: record, terms: terms, issuer: issuer, closesAt: now + configuration.windowDuration,
        nextTryAt: now))
  }

  mutating func close() {
    state = .closed
  }

  /// The opening, if a try is allowed now. Throws `.windowClosed` or `.tooManyTries`.
  func admit(now: Instant) throws(PairingRefusal) -> Opening {
    guard let opening else { throw .windowClosed }
    if opening.tries >= configuration.tries {
      // The last one is not decided yet.
      throw .tooManyTries(retryAfter: configuration.sessionDuration)
    }
    guard now >= opening.nextTryAt else { throw .tooManyTries(retryAfter: opening.nextTryAt - now) }
    return opening
  }

  /// Counts a try that is being answered.
  mutating func spend(session: [UInt8], now: Instant) {
    guard case .open(var opening) = state else { return }
    let delays = configuration.delays
    if !delays.isEmpty { opening.nextTryAt = now + delays[min(opening.tries, delays.count - 1)] }
    opening.tries += 1
    opening.pending.insert(session)
    state = .open(opening)
  }

  /// A try turned out wrong. Closes the window after the last one; nil when the try was not of this window.
  mutating func fail(session: [UInt8]) -> Verdict? {
    guard case .open(var opening) = state, opening.pending.remove(session) != nil else { return nil }
    if opening.tries >= configuration.tries, opening.pending.isEmpty {
      state = .closed
      return .closed
    }
    state = .open(opening)
    return .triesLeft(configuration.tries - opening.tries)
  }
}
