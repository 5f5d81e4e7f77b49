internal import Wire

/// The period in which a code is valid: its start and end, and how often it may be tried. interfaces/wire.md, "Pairing".
struct PairingWindow: Sendable {
  /// The state of an open window.
  struct Opening: Sendable {
    let salt: [UInt8]
    let record: SPAKE2PlusRecord
    let terms: PairingTerms
    let issuer: PairingIssuer
    let closesAt: Instant
    /// Tries that were answered. Each counts once it is answered, because the answer tells the parent whether the code
    /// was right; a parent that then goes silent has made a guess like any other.
    var tries = 0
    var nextTryAt: Instant
    /// Tries that were answered and may still succeed.
    var pending: Set<[UInt8]> = []
  }

  enum State: Sendable {
    case closed
    case open(Opening)
  }

  /// Result of a wrong try.
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
      // The last try is still undecided.
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

  /// A try turned out wrong. Closes the window after the last one; nil if the try did not belong to this window.
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
