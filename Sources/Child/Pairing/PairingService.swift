internal import Frames
internal import Logging
internal import Messages
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Pairing
internal import Server
internal import Signaling
internal import Storage
internal import Wire

/// Pairs with parents and keeps who they are: `POST /pair`, the window, invitations, the pair records.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class PairingService: @unchecked Sendable {
  /// How an open window came to its end.
  enum Outcome: Sendable {
    /// A parent used its code or its link.
    case paired(PairRecord, CheckWords)
    case closed(PairingEvent.Closing)
    /// A parent used it, but its record could not be stored.
    case notStored
  }

  /// An open window, for the person who opened it.
  struct Opened: Sendable {
    let offer: PairingResponder.Offer
    let closesIn: Duration
    /// What whoever pairs by it gets.
    let terms: PairingTerms
  }

  /// Why somebody may not open the window or invite.
  enum OfferRefusal: Error, Hashable, Sendable {
    /// The issuer is not paired any more, has expired, or has no `admin`.
    case issuerMayNot
    /// An invitation cannot give what its issuer does not have: these.
    case exceedsIssuer(Permissions)
    case tooManyInvites
  }

  private let loop: any EventLoop
  private let logger: Logger
  private var responder: PairingResponder
  private var store: PairStore
  private let clock: ExpiryClock
  private var timer: Scheduled<Void>?
  /// Of whoever waits for the window to close.
  private var waiting: EventLoopPromise<Outcome>?
  /// The last pairing, whether by the window or by an invitation; nil when it could not be stored.
  private var lastPaired: (record: PairRecord, words: CheckWords)?

  /// The window was closed and why, or with nil: it was opened.
  var onWindow: [(PairingEvent.Closing?) -> Void] = []
  var onPaired: (PairRecord) -> Void = { _ in }
  /// A parent that was paired already has paired again: its record as it is now. It may have fewer permissions than before;
  /// what it has open is to be narrowed to them.
  var onChanged: [(PairRecord) -> Void] = []
  /// The parent may not come any more; what it has open is to be ended.
  var onRevoked: [(PairRecord) -> Void] = []

  init(
    responder: PairingResponder, store: PairStore, clock: ExpiryClock, loop: any EventLoop, logger: Logger
  ) {
    self.responder = responder
    self.store = store
    self.clock = clock
    self.loop = loop
    self.logger = logger
  }

  // MARK: Who is paired

  var records: [PairRecord] { store.book.records }

  func record(id: String) -> PairRecord? { store.book.records.first { $0.id == id } }

  /// The record that a text of a person means: an id or a name.
  func find(_ text: String) -> PairBook.Lookup { store.book.find(text) }

  /// What signalling needs of a parent; nil for one that is not paired.
  func peer(id: String) -> PairedPeer? {
    record(id: id).map { record in
      PairedPeer(
        id: record.id, publicKeySPKI: record.publicKey, permissions: record.permissions,
        isExpired: !record.isUsable(at: clock.now))
    }
  }

  /// What the pair record with this id is worth now.
  func standing(ofPair id: String) -> Credential.Standing {
    guard let record = record(id: id) else { return .unknown }
    guard record.isUsable(at: clock.now) else { return .expired }
    return .good(record.permissions, expiresAt: record.expiresAt)
  }

  /// The date that decides about expiry.
  var now: UnixTime { clock.now }

  /// The parent was here.
  func touch(id: String) { store.touch(id: id, date: clock.now) }

  /// Marks what has expired, and ends what its owner had offered. Call it each second.
  func endExpired() {
    guard records.contains(where: { $0.expiresAt != nil && !$0.hasExpired }) else { return }
    clock.saveWhenDue()
    let expired = store.markExpired(at: clock.now)
    guard !expired.isEmpty else { return }
    clock.save()
    saveNotes()
    for record in expired {
      logger.notice("a parent's time is over", metadata: ["name": "\(record.name)", "id": "\(record.id)"])
    }
    endOffersWithoutRight()
    settle()
  }

  /// Unpairs a parent. What it has offered to others ends with it. Throws `StoreError`; nothing has changed then.
  ///
  /// - Parameter delay: how long its open sessions stay, for an answer to leave; nothing is allowed in them any more.
  func revoke(id: String, endingSessionsAfter delay: TimeAmount? = nil) throws(StoreError) {
    let record = try store.revoke(id: id)
    logger.notice("parent unpaired", metadata: ["name": "\(record.name)", "id": "\(record.id)"])
    endOffersWithoutRight()
    settle()
    guard let delay else { return tellRevoked(record) }
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.scheduleTask(in: delay) { bound.value.tellRevoked(record) }
  }

  private func tellRevoked(_ record: PairRecord) {
    for tell in onRevoked { tell(record) }
  }

  func saveNotes() {
    do {
      try store.saveNotes()
    } catch {
      logger.warning("the pair records' dates could not be saved", metadata: ["reason": "\(error)"])
    }
  }

  // MARK: The window

  var isOpen: Bool { responder.isOpen }

  /// Opens the window with a new code and link; one that was open closes. The code is made on another thread: on a small
  /// board it takes 0.2 s, for which the event loop would stand still.
  ///
  /// - Parameter admin: whether whoever pairs gets `admin`, too. The first parent always does: a family needs one.
  /// - Throws: `OfferRefusal.issuerMayNot`.
  func open(by issuer: PairingIssuer, admin: Bool) -> EventLoopFuture<Opened> {
    let responder = responder
    let bound = NIOLoopBound(self, eventLoop: loop)
    return NIOThreadPool.singleton.runIfActive(eventLoop: loop) {
      var random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
      return responder.prepareCode(using: &random)
    }.flatMapThrowing { code in
      try bound.value.open(code, by: issuer, admin: admin)
    }
  }

  private func open(
    _ code: PairingResponder.PreparedCode, by issuer: PairingIssuer, admin: Bool
  ) throws(OfferRefusal) -> Opened {
    // Asked now and not before: the issuer may have been unpaired while the code was made.
    let rights = try rights(of: issuer)
    let wanted: Permissions = admin || records.isEmpty ? .all : .all.subtracting(.admin)
    let terms = PairingTerms(permissions: wanted.intersection(rights.permissions), expiresAt: rights.expiresAt)
    let now = MonotonicClock.now
    let offer = responder.open(code, terms: terms, by: issuer, now: now)
    settle()
    return Opened(offer: offer, closesIn: offer.closesAt - now, terms: terms)
  }

  func close() {
    responder.close()
    settle()
  }

  /// Succeeds when the window closes; at once when it is closed. Pairings by invitation do not count.
  func waitForEnd() -> EventLoopFuture<Outcome> {
    guard isOpen else { return loop.makeSucceededFuture(.closed(.byHand)) }
    let promise = waiting ?? loop.makePromise()
    waiting = promise
    return promise.futureResult
  }

  // MARK: Invitations

  /// Makes a link for one pairing, valid for `duration`. Its guest does not outlast whoever invites it.
  /// - Returns: the link's secret, and the terms as they are.
  func invite(
    _ terms: PairingTerms, for duration: Duration, by issuer: PairingIssuer
  ) throws(OfferRefusal) -> (secret: PairingSecret, terms: PairingTerms) {
    let rights = try rights(of: issuer)
    guard terms.permissions.isSubset(of: rights.permissions) else {
      throw .exceedsIssuer(terms.permissions.subtracting(rights.permissions))
    }
    var terms = terms
    if let end = rights.expiresAt { terms.expiresAt = min(terms.expiresAt ?? end, end) }
    defer { settle() }
    do throws(PairingResponder.TooManyInvites) {
      let secret = try responder.invite(terms: terms, by: issuer, for: duration, now: MonotonicClock.now)
      return (secret, terms)
    } catch {
      throw .tooManyInvites
    }
  }

  /// Invitations that can still be used; how long each still can.
  func invitations() -> [(invitation: PairingInvitation, expiresIn: Duration)] {
    let now = MonotonicClock.now
    responder.handleTimeout(now: now)
    settle()
    return responder.invitations.map { ($0, $0.expiresAt - now) }
  }

  /// The window, if it is open, and how long it still is.
  func opening() -> (opening: PairingOpening, closesIn: Duration)? {
    responder.opening.map { ($0, $0.closesAt - MonotonicClock.now) }
  }

  /// Takes an invitation back; false when there is none of this id.
  func revokeInvite(id: String) -> Bool {
    defer { settle() }
    return responder.revokeInvite(id: id) != nil
  }

  /// Takes all invitations back and closes the window.
  func endOffers() {
    responder.endOffers { _, _ in true }
    settle()
  }

  /// What an issuer may give to others.
  private func rights(
    of issuer: PairingIssuer
  ) throws(OfferRefusal) -> (permissions: Permissions, expiresAt: UnixTime?) {
    switch issuer {
    case .administrator: return (.all, nil)
    case .parent(let id):
      guard case .good(let permissions, let end) = standing(ofPair: id), permissions.contains(.admin) else {
        throw .issuerMayNot
      }
      return (permissions, end)
    }
  }

  /// Ends what was offered by somebody who may not offer it any more.
  private func endOffersWithoutRight() {
    responder.endOffers { issuer, terms in
      guard let rights = try? self.rights(of: issuer), terms.permissions.isSubset(of: rights.permissions) else {
        return true
      }
      guard let end = rights.expiresAt else { return false }
      return terms.expiresAt.map { $0 > end } ?? true
    }
  }

  /// The program stops: nobody waits for a window any longer.
  func stop() {
    close()
    timer?.cancel()
    saveNotes()
    clock.save()
  }

  // MARK: POST /pair

  func respond(to request: HTTPRequest) -> HTTPResponse {
    guard request.method == .POST else {
      var response = HTTPResponse(Problem(405, "\(request.method.rawValue) means nothing here; allowed is POST"))
      response.headers.add(name: "Allow", value: "POST")
      return response
    }
    // A web page of another origin cannot send this type without asking first, and is never allowed to.
    let type = request.headers.first(name: "Content-Type").map { String($0.prefix { $0 != ";" }) }
    guard type == PairingMessages.contentType else {
      return HTTPResponse(Problem(415, "send \(PairingMessages.contentType)"))
    }
    defer { settle() }
    endOffersWithoutRight()
    do throws(PairingRefusal) {
      let answer = try responder.handle(
        PairingMessages.request(request.body), now: MonotonicClock.now, date: clock.now)
      switch answer {
      case .reply(let reply):
        return response(reply)
      case .paired(let record, let words, let reply):
        return keep(record, words) ?? response(reply)
      }
    } catch {
      let problem = PairingProblem(error)
      var headers: HTTPHeaders = ["Content-Type": PairingProblem.contentType, "Cache-Control": "no-store"]
      if let seconds = problem.retryAfterSeconds { headers.add(name: "Retry-After", value: "\(seconds)") }
      return HTTPResponse(
        status: HTTPResponseStatus(statusCode: problem.status), headers: headers, body: problem.body)
    }
  }

  private func response(_ reply: PairingReply) -> HTTPResponse {
    HTTPResponse(
      status: .ok, headers: ["Content-Type": PairingMessages.contentType, "Cache-Control": "no-store"],
      body: PairingMessages.encode(reply))
  }

  /// Stores the record before the parent hears of it. Nil when that went well.
  private func keep(_ record: PairRecord, _ words: CheckWords) -> HTTPResponse? {
    let before = self.record(id: record.id)
    lastPaired = nil
    clock.save()
    do {
      try store.add(record)
    } catch {
      logger.error("a pairing could not be stored", metadata: ["reason": "\(error)"])
      return HTTPResponse(Problem(500, "the child could not store the pairing; its log says why"))
    }
    lastPaired = (record, words)
    endOffersWithoutRight()
    onPaired(record)
    if before != nil {
      for tell in onChanged { tell(record) }
    }
    return nil
  }

  // MARK: After each call

  private func settle() {
    while let event = responder.poll() { note(event) }
    timer?.cancel()
    timer = responder.nextDeadline.map { deadline in
      let wait = max(.zero, deadline - MonotonicClock.now)
      return loop.scheduleTask(in: .nanoseconds(wait.nanoseconds)) { [weak self] in
        guard let self else { return }
        self.responder.handleTimeout(now: MonotonicClock.now)
        self.settle()
      }
    }
  }

  private func note(_ event: PairingEvent) {
    switch event {
    case .windowOpened:
      logger.notice("pairing is open")
      for tell in onWindow { tell(nil) }
    case .windowClosed(let reason):
      logger.notice("pairing is closed", metadata: ["because": "\(reason.words)"])
      for tell in onWindow { tell(reason) }
      // The pairing that closes a window is always the last one: the two events follow each other.
      let outcome: Outcome =
        if reason != .paired { .closed(reason) } else { lastPaired.map { .paired($0.record, $0.words) } ?? .notStored }
      waiting?.succeed(outcome)
      waiting = nil
    case .wrongCode(let left):
      logger.warning("a wrong pairing code was tried", metadata: ["tries-left": "\(left)"])
    case .wrongProof:
      logger.warning("a pairing link was tried without its secret")
    case .invited(let terms):
      logger.notice("invited", metadata: ["name": "\(terms.name ?? "")", "allow": "\(terms.permissions.names)"])
    case .inviteExpired(let terms):
      logger.info("an invitation was not used in time", metadata: ["name": "\(terms.name ?? "")"])
    case .inviteRevoked(let terms):
      logger.notice("an invitation was taken back", metadata: ["name": "\(terms.name ?? "")"])
    case .paired(let record, _, let means):
      guard lastPaired?.record.id == record.id else { return }
      logger.notice(
        "paired", metadata: ["name": "\(record.name)", "id": "\(record.id)", "by": "\(means)"])
    }
  }
}

extension PairingEvent.Closing {
  /// For people.
  var words: String {
    switch self {
    case .paired: "a parent has paired"
    case .tooManyWrongCodes: "three wrong codes were tried"
    case .timeIsUp: "five minutes are over"
    case .byHand: "it was closed"
    case .issuerGone: "whoever opened it may not do so any more"
    }
  }
}
