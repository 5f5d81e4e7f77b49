internal import Frames
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Pairing
internal import Server
internal import Signaling
internal import Storage
internal import Wire

/// Pairs parents and keeps their records: `POST /pair`, the window, invitations, the pair records.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class PairingService: @unchecked Sendable {
  /// How an open window ended.
  enum Outcome: Sendable {
    /// A parent used its code or link.
    case paired(PairRecord, CheckWords)
    case closed(PairingEvent.Closing)
    /// A parent used it, but its record could not be stored.
    case notStored
  }

  /// An open window, as shown to the person who opened it.
  struct Opened: Sendable {
    let offer: PairingResponder.Offer
    let closesIn: Duration
    /// What a parent that pairs through it gets.
    let terms: PairingTerms
  }

  /// Why an issuer may not open the window or invite.
  enum OfferRefusal: Error, Hashable, Sendable {
    /// The issuer is no longer paired, has expired, or lacks `admin`.
    case issuerMayNot
    /// An invitation cannot grant these permissions, which its issuer does not have.
    case exceedsIssuer(Permissions)
    case tooManyInvites
    /// Access that expires, before the date is known.
    case dateUnknown
    /// The disk takes nothing: whoever came in could not be kept.
    case cannotStore(StoreError)
  }

  private let loop: any EventLoop
  private let logger: Logger
  private var responder: PairingResponder
  private var store: PairStore
  private let clock: ExpiryClock
  private lazy var timer = DeadlineTimer(on: loop, now: { MonotonicClock.now }) { [weak self] in
    self?.responder.handleTimeout(now: MonotonicClock.now)
    self?.settle()
  }
  /// How the last window ended: whoever opened it may ask only after a fast parent has used it.
  private var window = Window.closed(.closed(.byHand))
  /// The last pairing, through the window or an invitation; nil if it could not be stored.
  private var lastPaired: (record: PairRecord, words: CheckWords)?
  /// The check words of the latest pairings, by id of the pair, and when that was.
  private var checkWords: [String: (words: CheckWords, date: UnixTime)] = [:]
  /// For so long whoever let a device in can compare them: as long as that device may report that they differ.
  private static let checkWordsSeconds: Int64 = 600

  /// Pairings whose records are being stored: they are not announced yet.
  private var storing = 0
  private var observers: [(Change) -> Void] = []

  private enum Window {
    /// With the callers that wait for it to close.
    case open(EventLoopPromise<Outcome>?)
    case closed(Outcome)
  }

  /// Changes, for observers.
  enum Change {
    case windowOpened
    case windowClosed(because: String)
    /// A parent has paired. One that was paired before may have more permissions now, which its open sessions get.
    case paired(PairRecord, isNew: Bool)
    /// The parent is no longer admitted; its open sessions must be ended.
    case revoked(PairRecord)
  }

  init(
    responder: PairingResponder, store: PairStore, clock: ExpiryClock, loop: any EventLoop, logger: Logger
  ) {
    self.responder = responder
    self.store = store
    self.clock = clock
    self.loop = loop
    self.logger = logger
  }

  /// Observers are called in the order in which they were added.
  func observe(_ observer: @escaping (Change) -> Void) {
    observers.append(observer)
  }

  private func notify(_ change: Change) {
    for observer in observers { observer(change) }
  }

  // MARK: Pair records

  var records: [PairRecord] { store.book.records }

  func record(id: String) -> PairRecord? { store.book.records.first { $0.id == id } }

  /// What the device shows that has paired a moment ago.
  func checkWords(ofPair id: String) -> CheckWords? {
    checkWords[id].flatMap { isRecent($0.date) ? $0.words : nil }
  }

  private func isRecent(_ date: UnixTime) -> Bool { clock.now.seconds - date.seconds < Self.checkWordsSeconds }

  /// The record that matches a user's input: an id or a name.
  func find(_ text: String) -> PairBook.Lookup { store.book.find(text) }

  /// The parent as signalling needs it; nil if it is not paired.
  func peer(id: String) -> PairedPeer? {
    record(id: id).map { record in
      PairedPeer(
        id: record.id, publicKeySPKI: record.publicKey, permissions: record.permissions,
        isExpired: !clock.dates.contains(where: record.isUsable))
    }
  }

  /// What the pair record with this id currently allows.
  func standing(ofPair id: String) -> Credential.Standing {
    guard let record = record(id: id) else { return .unknown }
    guard clock.dates.contains(where: record.isUsable) else { return .expired }
    return .good(record.permissions, expiresAt: record.expiresAt)
  }

  /// Whether the pair has expired by a date that may prove wrong: `TrustedClock`.
  func mayReturn(id: String) -> Bool {
    record(id: id).map { !$0.hasExpired && $0.isExpired(at: clock.now) } ?? false
  }

  /// The date that decides expiry.
  var now: UnixTime { clock.now }

  /// Whether anything can expire: a board without a clock of its own begins in 1970.
  var isDateKnown: Bool { clock.now >= TrustedClock.earliest }

  /// Notes that the parent is here.
  func touch(id: String) {
    let wasCompleted = record(id: id)?.isCompleted == true
    store.touch(id: id, date: clock.now)
    guard !wasCompleted, record(id: id)?.isCompleted == true else { return }
    // Who owns the child must not depend on whether it is stopped in an orderly way.
    saveNotes()
    giveWay(to: id)
  }

  /// Whether somebody may let others in and remove them, and uses that pair.
  var hasOwner: Bool { store.book.hasOwner(at: clock.now) }

  /// A pairing was completed. Those that were begun before it for the same place, and left at the check words, are removed.
  private func giveWay(to id: String) {
    for record in store.book.abandoned(before: id) {
      logger.notice(
        "a pairing that was never completed gives way",
        metadata: ["name": "\(record.name)", "id": "\(record.id)"])
      do throws(StoreError) {
        try revoke(id: record.id)
      } catch {
        logger.warning("a parent could not be removed", metadata: ["reason": "\(error)"])
      }
    }
  }

  /// Marks expired records and ends the offers of their owners, and those that would give nothing any more. Call it each
  /// second.
  func endExpired() {
    if isDateKnown { store.correctLastSeen(to: clock.now) }
    // The date may have been set since they were made.
    if !responder.invitations.isEmpty {
      endOffersWithoutRight()
      settle()
    }
    guard records.contains(where: { $0.expiresAt != nil && !$0.hasExpired }) else { return }
    clock.saveWhenDue()
    let expired = store.markExpired(at: clock.now, madeSince: clock.firmSince)
    guard !expired.isEmpty else { return }
    clock.save()
    saveNotes()
    for record in expired {
      logger.notice("a parent's time is over", metadata: ["name": "\(record.name)", "id": "\(record.id)"])
    }
    endOffersWithoutRight()
    settle()
  }

  /// Unpairs a parent and ends the offers it has made, at once. Throws `StoreError`; nothing has changed then. `stored` says
  /// whether a restart would bring it back: where it cannot be written, that is tried again and again, and it stays out.
  ///
  /// - Parameter delay: how long its open sessions stay, so that a reply can be sent; nothing is permitted in them.
  func revoke(id: String, endingSessionsAfter delay: TimeAmount? = nil) throws(StoreError) {
    let record = try store.revoke(id: id)
    logger.notice("parent unpaired", metadata: ["name": "\(record.name)", "id": "\(record.id)"])
    if record.permissions.contains(.admin), !records.isEmpty, !hasOwner {
      logger.warning("nobody owns this child any more; make an owner with: cradle-child pair --admin")
    }
    endOffersWithoutRight()
    settle()
    if delay == nil { notify(.revoked(record)) }
    let bound = NIOLoopBound(self, eventLoop: loop)
    let loop = loop
    stored().whenComplete { result in
      if case .failure = result {
        bound.value.logger.error(
          "a parent is removed, and that is not kept yet: a restart would bring it back",
          metadata: ["name": "\(record.name)", "id": "\(record.id)"])
      }
      if let delay { loop.scheduleTask(in: delay) { bound.value.notify(.revoked(record)) } }
    }
  }

  /// What has changed so far is on disk; fails with `StoreError` if it cannot be.
  func stored() -> EventLoopFuture<Void> { store.file.written(on: loop) }

  func saveNotes() {
    do {
      try store.saveNotes()
    } catch {
      logger.warning("the pair records' dates could not be saved", metadata: ["reason": "\(error)"])
    }
  }

  // MARK: The window

  var isOpen: Bool { responder.isOpen }

  /// Opens the window with a new code and link, closing any open one. The code is made on another thread: on a small
  /// board it takes 0.2 s, which would stall the event loop.
  ///
  /// - Parameters:
  ///   - admin: whether the new parent gets every permission. While nobody has completed pairing it does anyway: a family
  ///     needs an owner.
  ///   - recordings: whether it gets `recordings` besides the usual ones.
  /// - Returns: fails with `OfferRefusal.issuerMayNot` or `.cannotStore`.
  func open(by issuer: PairingIssuer, admin: Bool, recordings: Bool = false) -> EventLoopFuture<Opened> {
    let responder = responder
    let bound = NIOLoopBound(self, eventLoop: loop)
    return ready().and(
      NIOThreadPool.singleton.runIfActive(eventLoop: loop) {
        var random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
        return responder.prepareCode(using: &random)
      }
    ).flatMapThrowing { _, code in
      try bound.value.open(code, by: issuer, admin: admin, recordings: recordings)
    }
  }

  /// Whether a pair could be stored now, found by storing those that there are. Before somebody takes the trouble to come in.
  /// - Returns: fails with `OfferRefusal.cannotStore`.
  func ready() -> EventLoopFuture<Void> {
    do throws(StoreError) {
      try store.rewrite()
    } catch {
      return loop.makeFailedFuture(OfferRefusal.cannotStore(error))
    }
    return stored().flatMapErrorThrowing { error in
      throw (error as? StoreError).map { OfferRefusal.cannotStore($0) } ?? error
    }
  }

  private func open(
    _ code: PairingResponder.PreparedCode, by issuer: PairingIssuer, admin: Bool, recordings: Bool
  ) throws(OfferRefusal) -> Opened {
    // Checked only now: the issuer may have been unpaired while the code was being made.
    let rights = try rights(of: issuer)
    let wanted: Permissions =
      admin || !store.book.hasCompleted(at: clock.now)
      ? .all : recordings ? .everyday.union(.recordings) : .everyday
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

  /// Succeeds when the window closes, or immediately with the last one's end if it is closed. Pairings by invitation do not
  /// count.
  func waitForEnd() -> EventLoopFuture<Outcome> {
    switch window {
    case .open(let waiting?): return waiting.futureResult
    case .closed(let outcome) where !isOpen: return loop.makeSucceededFuture(outcome)
    case .open, .closed:
      let waiting = loop.makePromise(of: Outcome.self)
      window = .open(waiting)
      return waiting.futureResult
    }
  }

  // MARK: Invitations

  /// Makes a link for one pairing, valid for `duration`. The guest's access ends no later than the issuer's.
  /// - Returns: the link's secret, and the effective terms.
  func invite(
    _ terms: PairingTerms, for duration: Duration, by issuer: PairingIssuer
  ) throws(OfferRefusal) -> (secret: PairingSecret, terms: PairingTerms) {
    let rights = try rights(of: issuer)
    guard terms.permissions.isSubset(of: rights.permissions) else {
      throw .exceedsIssuer(terms.permissions.subtracting(rights.permissions))
    }
    var terms = terms
    if let end = rights.expiresAt { terms.expiresAt = min(terms.expiresAt ?? end, end) }
    guard terms.expiresAt == nil || isDateKnown else { throw .dateUnknown }
    defer { settle() }
    do throws(PairingResponder.TooManyInvites) {
      let secret = try responder.invite(terms: terms, by: issuer, for: duration, now: MonotonicClock.now)
      return (secret, terms)
    } catch {
      throw .tooManyInvites
    }
  }

  /// Invitations that can still be used, and the time left for each.
  func invitations() -> [(invitation: PairingInvitation, expiresIn: Duration)] {
    let now = MonotonicClock.now
    responder.handleTimeout(now: now)
    settle()
    return responder.invitations.map { ($0, $0.expiresAt - now) }
  }

  /// The open window, if any, and the time left.
  func opening() -> (opening: PairingOpening, closesIn: Duration)? {
    responder.opening.map { ($0, $0.closesAt - MonotonicClock.now) }
  }

  /// Withdraws an invitation; false if there is none with this id.
  func revokeInvite(id: String) -> Bool {
    defer { settle() }
    return responder.revokeInvite(id: id) != nil
  }

  /// Withdraws all invitations and closes the window.
  func endOffers() {
    responder.endOffers { _, _ in true }
    settle()
  }

  /// What an issuer may grant to others.
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

  /// Ends offers whose issuer may no longer make them, or whose access is over before it began.
  private func endOffersWithoutRight() {
    let now = clock.now
    responder.endOffers { issuer, terms in
      if let end = terms.expiresAt, end <= now { return true }
      guard let rights = try? self.rights(of: issuer), terms.permissions.isSubset(of: rights.permissions) else {
        return true
      }
      guard let end = rights.expiresAt else { return false }
      return terms.expiresAt.map { $0 > end } ?? true
    }
  }

  /// The program stops: ends all waits for the window.
  func stop() {
    close()
    timer.cancel()
    saveNotes()
    clock.save()
  }

  // MARK: POST /pair

  func respond(to request: HTTPRequest) -> EventLoopFuture<HTTPResponse> {
    answer(request).map { response in
      var response = response
      // The page of another child of the family may pair by a link: its 128 bits are not guessed.
      response.headers.add(name: "Access-Control-Allow-Origin", value: "*")
      return response
    }
  }

  private func answer(_ request: HTTPRequest) -> EventLoopFuture<HTTPResponse> {
    defer { settle() }
    switch paired(request) {
    case .answer(let response): return loop.makeSucceededFuture(response)
    case .keep(let record, let words, let reply): return keep(record, words, then: response(reply))
    case .settle(let verdict, let pair, let reply): return settle(verdict, pair: pair, then: response(reply))
    }
  }

  private enum Handled {
    case answer(HTTPResponse)
    /// The record has to be on disk before this reply is sent.
    case keep(PairRecord, CheckWords, PairingReply)
    /// So has what the parent says of the check words.
    case settle(PairingVerdict, pair: String, PairingReply)
  }

  private func paired(_ request: HTTPRequest) -> Handled {
    if request.method == .OPTIONS {
      return .answer(
        HTTPResponse(
          status: .noContent,
          headers: [
            "Access-Control-Allow-Methods": "POST", "Access-Control-Allow-Headers": "Content-Type",
            "Access-Control-Max-Age": "86400",
          ]))
    }
    guard request.method == .POST else {
      var response = HTTPResponse(
        Problem(405, "\(request.method.rawValue) means nothing here; allowed are POST, OPTIONS"))
      response.headers.add(name: "Allow", value: "POST, OPTIONS")
      return .answer(response)
    }
    // No page can send this type to another origin without having asked (a CORS preflight).
    let type = request.headers.first(name: "Content-Type").map { String($0.prefix { $0 != ";" }) }
    guard type == PairingMessages.contentType else {
      return .answer(HTTPResponse(Problem(415, "send \(PairingMessages.contentType)")))
    }
    endOffersWithoutRight()
    do throws(PairingRefusal) {
      let message = try PairingMessages.request(request.body)
      if request.isFromOtherOrigin, message.usesCode { throw .windowClosed }
      let date = clock.now
      let answer = try responder.handle(message, now: MonotonicClock.now, date: date) { id in
        record(id: id).flatMap { $0.isUsable(at: date) ? $0 : nil }
      }
      switch answer {
      case .reply(let reply): return .answer(response(reply))
      case .paired(let record, let words, let reply): return .keep(record, words, reply)
      case .settled(let verdict, let pair, let reply):
        if record(id: pair) != nil { return .settle(verdict, pair: pair, reply) }
        // It was removed meanwhile, which is all that a parent wants that cancels.
        guard verdict == .cancel else { throw .unknownSession }
        return .answer(response(reply))
      }
    } catch {
      let problem = PairingProblem(error)
      var headers: HTTPHeaders = ["Content-Type": PairingProblem.contentType, "Cache-Control": "no-store"]
      if let seconds = problem.retryAfterSeconds { headers.add(name: "Retry-After", value: "\(seconds)") }
      return .answer(
        HTTPResponse(status: HTTPResponseStatus(statusCode: problem.status), headers: headers, body: problem.body))
    }
  }

  private func response(_ reply: PairingReply) -> HTTPResponse {
    var response = HTTPResponse(
      status: .ok, headers: ["Content-Type": PairingMessages.contentType, "Cache-Control": "no-store"],
      body: PairingMessages.encode(reply))
    response.standing = .pairing
    return response
  }

  /// Stores the record before the parent, or anybody else, learns of it.
  private func keep(
    _ record: PairRecord, _ words: CheckWords, then response: HTTPResponse
  ) -> EventLoopFuture<HTTPResponse> {
    let before = records
    let record = store.book.named(record)
    lastPaired = nil
    clock.save()
    do {
      try store.add(record)
    } catch {
      return loop.makeSucceededFuture(notStored(error))
    }
    storing += 1
    let bound = NIOLoopBound(self, eventLoop: loop)
    return stored().map { _ -> HTTPResponse in
      bound.value.storing -= 1
      bound.value.kept(record, words, before: before)
      return response
    }.flatMapErrorThrowing { error in
      let pairing = bound.value
      pairing.storing -= 1
      // It was never paired.
      if let older = before.first(where: { $0.id == record.id }) {
        try? pairing.store.add(older)
      } else {
        _ = try? pairing.store.revoke(id: record.id)
      }
      return pairing.notStored(error)
    }.always { _ in bound.value.settle() }
  }

  private func kept(_ record: PairRecord, _ words: CheckWords, before: [PairRecord]) {
    lastPaired = (record, words)
    checkWords = checkWords.filter { isRecent($0.value.date) }
    checkWords[record.id] = (words, clock.now)
    // A full book drops a record that has expired.
    for gone in before where gone.id != record.id && self.record(id: gone.id) == nil { notify(.revoked(gone)) }
    endOffersWithoutRight()
    notify(.paired(record, isNew: !before.contains { $0.id == record.id }))
  }

  /// The parent has compared the check words. What comes of it is stored before the answer.
  private func settle(
    _ verdict: PairingVerdict, pair: String, then response: HTTPResponse
  ) -> EventLoopFuture<HTTPResponse> {
    do throws(StoreError) {
      switch verdict {
      case .confirm: try store.confirm(id: pair, date: clock.now)
      case .cancel:
        logger.warning(
          "the parent has cancelled the pairing: the words differed, or it could not store it",
          metadata: ["name": "\(record(id: pair)?.name ?? "")", "id": "\(pair)"])
        try revoke(id: pair)
      }
    } catch {
      return loop.makeSucceededFuture(notStored(error))
    }
    let bound = NIOLoopBound(self, eventLoop: loop)
    return stored().map { _ -> HTTPResponse in
      if verdict == .confirm { bound.value.giveWay(to: pair) }
      return response
    }.flatMapErrorThrowing { error in
      // A parent that cancels is out all the same, until a restart.
      bound.value.notStored(error, verdict == .cancel ? "that the pairing was cancelled" : "the pairing")
    }
  }

  /// Names neither files nor keys: whoever reads it may be a stranger to this machine.
  private func notStored(_ error: any Error, _ what: String = "the pairing") -> HTTPResponse {
    logger.error("\(what) could not be stored", metadata: ["reason": "\(error)"])
    var reason = "its log says why"
    if case StoreError.full(let maximum)? = error as? StoreError {
      reason = "\(maximum) devices are paired, which is the limit; remove one with “cradle-child unpair”"
    } else if case StoreError.file(let file)? = error as? StoreError {
      reason = file.reason
    }
    return HTTPResponse(Problem(500, "the camera could not store \(what): \(reason)"))
  }

  // MARK: After each call

  private func settle() {
    // The events of a pairing say that it is done.
    if storing == 0 {
      while let event = responder.poll() { note(event) }
    }
    timer.set(responder.nextDeadline)
  }

  private func note(_ event: PairingEvent) {
    switch event {
    case .windowOpened:
      logger.notice("pairing is open")
      if case .closed = window { window = .open(nil) }
      notify(.windowOpened)
    case .windowClosed(let reason):
      let isUnstored = reason == .paired && lastPaired == nil
      let words = isUnstored ? "the pairing could not be stored" : reason.words
      logger.notice("pairing is closed", metadata: ["because": "\(words)"])
      notify(.windowClosed(because: words))
      // The pairing that closes a window is always the last one: its two events come one after the other.
      let outcome: Outcome =
        if reason != .paired { .closed(reason) } else { lastPaired.map { .paired($0.record, $0.words) } ?? .notStored }
      if case .open(let waiting) = window { waiting?.succeed(outcome) }
      window = .closed(outcome)
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

extension PairingRequest {
  /// A step of pairing by the code, of which only three tries are allowed.
  fileprivate var usesCode: Bool {
    switch self {
    case .begin, .share, .abandon: true
    case .link, .finish, .verdict: false
    }
  }
}

extension HTTPRequest {
  /// Sent by a page that another server has served. Programs send no `Origin`. RFC 6454 section 7.
  fileprivate var isFromOtherOrigin: Bool {
    guard let origin = headers.first(name: "Origin") else { return false }
    return origin != "https://\(headers.first(name: "Host") ?? "")"
  }
}
