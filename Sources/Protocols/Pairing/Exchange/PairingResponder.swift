public import Wire

/// The child's end of pairing: the window, the invites and the active runs. interfaces/wire.md, "Pairing".
///
/// The shell passes each request to `handle`, stores the record of a `.paired` answer before it sends the reply, and
/// logs the events from `poll`.
public struct PairingResponder: Sendable {
  /// What to do with a request that was not refused.
  public enum Answer: Sendable {
    case reply(PairingReply)
    /// Store the record, then send the reply. If storing fails, send an error instead: the parent has nothing yet, and
    /// the code or link is used up anyway.
    case paired(PairRecord, CheckWords, PairingReply)
    /// Complete or remove the pair with this id, then send the reply. If storing fails, send an error instead; the parent
    /// may send its verdict again.
    case settled(PairingVerdict, pair: String, PairingReply)
  }

  /// Shown to the person when the window opens.
  public struct Offer: Hashable, Sendable {
    public let code: PairingCode
    public let secret: PairingSecret
    public let closesAt: Instant
  }

  /// A code and its verifier record: the part of a window that takes long to compute.
  public struct PreparedCode: Sendable {
    let code: PairingCode
    let salt: [UInt8]
    let record: SPAKE2PlusRecord
  }

  /// The maximum number of invites is reached.
  public struct TooManyInvites: Error, Hashable, Sendable {}

  struct Session: Sendable {
    let verifier: SPAKE2PlusVerifier
    let transcript: [UInt8]
    let terms: PairingTerms
    /// The link it uses; nil with a code.
    let link: [UInt8]?
    let deadline: Instant
  }

  /// Looks up the record of a parent that is paired already and has not expired.
  public typealias Known = (_ id: String) -> PairRecord?

  let configuration: PairingConfiguration
  let identity: any IdentitySigner
  let crypto: any PairingCrypto
  /// The child's name. May change between pairings.
  public var name: String
  var random: any RandomNumberGenerator & Sendable
  var window: PairingWindow
  var invites = PairingInvites()
  /// By session id. Bounded by the tries of a window plus one per link.
  var sessions: [[UInt8]: Session] = [:]
  var verdicts = PairingVerdicts()
  private var events: [PairingEvent] = []

  /// Beyond this number of unpolled events, the oldest are dropped.
  static let maximumEvents = 64

  public init(
    configuration: PairingConfiguration = PairingConfiguration(), identity: any IdentitySigner, name: String,
    crypto: any PairingCrypto, random: any RandomNumberGenerator & Sendable
  ) {
    precondition(PairingSize.iterations.contains(configuration.iterations), "parents accept these only")
    self.configuration = configuration
    self.identity = identity
    self.name = name
    self.crypto = crypto
    self.random = random
    window = PairingWindow(configuration: configuration)
  }

  /// For the `pairing` field of DNS-SD.
  public var isOpen: Bool { window.opening != nil }
  /// When the open window closes by itself; nil while it is closed.
  public var closesAt: Instant? { window.opening?.closesAt }

  // MARK: - The person at the child

  /// Makes a code for a window. Takes as long as `configuration.iterations` of PBKDF2, and may be called on any thread.
  public func prepareCode(using random: inout any RandomNumberGenerator & Sendable) -> PreparedCode {
    while true {
      let code = PairingCode.random(using: &random)
      let salt = randomBytes(PairingSize.salt, using: &random)
      let password = PairingPassword.code(code, salt: salt, iterations: configuration.iterations)
      if let record = SPAKE2PlusRecord(password.secrets(crypto: crypto), group: crypto) {
        return PreparedCode(code: code, salt: salt, record: record)
      }
    }
  }

  /// Opens the window with a new code and a new link; the first one used closes it. Closes a window that was open.
  /// - Parameter issuer: who opens it; `endOffers` closes it when the issuer loses the right to.
  public mutating func open(
    _ prepared: PreparedCode, terms: PairingTerms = PairingTerms(), by issuer: PairingIssuer = .administrator,
    now: Instant
  ) -> Offer {
    handleTimeout(now: now)
    close()
    window.open(salt: prepared.salt, record: prepared.record, terms: terms, issuer: issuer, now: now)
    let closesAt = now + configuration.windowDuration
    let secret = addInvite(terms: terms, issuer: issuer, expiresAt: closesAt, belongsToWindow: true)
    emit(.windowOpened)
    return Offer(code: prepared.code, secret: secret, closesAt: closesAt)
  }

  /// The same with a code made on the spot.
  public mutating func open(
    terms: PairingTerms = PairingTerms(), by issuer: PairingIssuer = .administrator, now: Instant
  ) -> Offer {
    var generator = random
    defer { random = generator }
    return open(prepareCode(using: &generator), terms: terms, by: issuer, now: now)
  }

  /// Closes the window, its link, and the runs that use them.
  public mutating func close() {
    if window.opening != nil { closeWindow(.byHand) }
  }

  /// Creates a link for one pairing within `duration`. Independent of the window.
  /// - Parameter issuer: who invites; `endOffers` revokes the invitation when the issuer loses the right to.
  public mutating func invite(
    terms: PairingTerms, by issuer: PairingIssuer = .administrator, for duration: Duration, now: Instant
  ) throws(TooManyInvites) -> PairingSecret {
    handleTimeout(now: now)
    guard invites.ofPeople < configuration.maximumInvites else { throw TooManyInvites() }
    emit(.invited(terms))
    return addInvite(terms: terms, issuer: issuer, expiresAt: now + duration, belongsToWindow: false)
  }

  /// The window, if it is open.
  public var opening: PairingOpening? {
    window.opening.map { PairingOpening(issuer: $0.issuer, terms: $0.terms, closesAt: $0.closesAt) }
  }

  /// Invitations that can still be used, the first to expire first.
  public var invitations: [PairingInvitation] { invites.listed }

  /// Revokes one invitation and any active pairing that uses it; nil if there is none with this id.
  @discardableResult
  public mutating func revokeInvite(id: String) -> PairingInvitation? {
    guard let invitation = invitations.first(where: { $0.id == id }) else { return nil }
    revokeInvites { $0.name == id }
    return invitation
  }

  /// Ends the offers for which `isOver` returns true: revokes invitations, closes the window, and drops active pairings
  /// that use them.
  public mutating func endOffers(_ isOver: (PairingIssuer, PairingTerms) -> Bool) {
    revokeInvites { isOver($0.issuer, $0.terms) }
    if let opening, isOver(opening.issuer, opening.terms) { closeWindow(.issuerGone) }
  }

  private mutating func revokeInvites(_ isOver: (PairingInvites.Invite) -> Bool) {
    for (link, invite) in invites.invites where !invite.belongsToWindow && isOver(invite) {
      drop(link: link)
      emit(.inviteRevoked(invite.terms))
    }
  }

  private mutating func addInvite(
    terms: PairingTerms, issuer: PairingIssuer, expiresAt: Instant, belongsToWindow: Bool
  ) -> PairingSecret {
    while true {
      let secret = PairingSecret.random(using: &random)
      guard let record = SPAKE2PlusRecord(PairingPassword.link(secret).secrets(crypto: crypto), group: crypto) else {
        continue
      }
      invites.add(
        PairingInvites.Invite(
          name: newInviteName(), issuer: issuer, record: record, terms: terms, expiresAt: expiresAt,
          belongsToWindow: belongsToWindow), id: PairingBytes.linkID(secret, hashes: crypto.hashes))
      return secret
    }
  }

  private mutating func newInviteName() -> String {
    while true {
      let digits = String(UInt32.random(in: .min ... .max, using: &random), radix: 16)
      let name = String(repeating: "0", count: 8 - digits.count) + digits
      if !invites.invites.values.contains(where: { $0.name == name }) { return name }
    }
  }

  // MARK: - Time

  public var nextDeadline: Instant? {
    var deadlines = sessions.values.map(\.deadline)
    if let closesAt { deadlines.append(closesAt) }
    if let next = invites.nextDeadline { deadlines.append(next) }
    return deadlines.min()
  }

  public mutating func handleTimeout(now: Instant) {
    for (id, session) in sessions where session.deadline <= now { fail(session: id) }
    verdicts.expire(now: now)
    if let closesAt, closesAt <= now { closeWindow(.timeIsUp) }
    for invite in invites.expire(now: now) where !invite.belongsToWindow { emit(.inviteExpired(invite.terms)) }
  }

  /// The next event for the log.
  public mutating func poll() -> PairingEvent? {
    events.isEmpty ? nil : events.removeFirst()
  }

  mutating func emit(_ event: PairingEvent) {
    if events.count >= Self.maximumEvents { events.removeFirst() }
    events.append(event)
  }

  // MARK: - Ends of runs

  mutating func closeWindow(_ reason: PairingEvent.Closing) {
    window.close()
    invites.removeWindow()
    sessions = sessions.filter { _, session in session.link.map { invites[$0] != nil } ?? false }
    emit(.windowClosed(reason))
  }

  /// Removes a link and the runs that use it.
  mutating func drop(link: [UInt8]) {
    invites.remove(link)
    sessions = sessions.filter { _, session in session.link != link }
  }

  /// Ends an unfinished run, which with a code counts as a wrong try. Returns the number of tries left, if so.
  @discardableResult
  mutating func fail(session: [UInt8]) -> Int? {
    sessions[session] = nil
    switch window.fail(session: session) {
    case nil: return nil
    case .triesLeft(let count):
      emit(.wrongCode(triesLeft: count))
      return count
    case .closed:
      emit(.wrongCode(triesLeft: 0))
      closeWindow(.tooManyWrongCodes)
      return 0
    }
  }
}
