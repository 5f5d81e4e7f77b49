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

/// Pairs with parents and keeps who they are: `POST /pair`, the window and invites, the pair records.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class PairingService: @unchecked Sendable {
  /// How an open window came to its end.
  enum Outcome: Sendable {
    case paired(PairRecord, CheckWords)
    case closed(PairingEvent.Closing)
  }

  private let loop: any EventLoop
  private let logger: Logger
  private var responder: PairingResponder
  private var store: PairStore
  private var timer: Scheduled<Void>?
  /// Of whoever waits for the window to close.
  private var waiting: EventLoopPromise<Outcome>?

  /// The window was closed and why, or with nil: it was opened.
  var onWindow: [(PairingEvent.Closing?) -> Void] = []
  var onPaired: (PairRecord) -> Void = { _ in }
  /// The parent may not come any more; what it has open is to be ended.
  var onRevoked: [(PairRecord) -> Void] = []

  init(responder: PairingResponder, store: PairStore, loop: any EventLoop, logger: Logger) {
    self.responder = responder
    self.store = store
    self.loop = loop
    self.logger = logger
  }

  // MARK: Who is paired

  var records: [PairRecord] { store.book.records }

  func record(id: String) -> PairRecord? { store.book.records.first { $0.id == id } }

  /// Whom a text of a person means.
  func find(_ text: String) -> PairBook.Lookup { store.book.find(text) }

  /// What the parent may do now: nil for who is not paired.
  func peer(id: String) -> PairedPeer? {
    record(id: id).map { record in
      PairedPeer(
        id: record.id, publicKeySPKI: record.publicKey, permissions: record.permissions,
        isExpired: record.isExpired(at: .now))
    }
  }

  /// The parent was here.
  func touch(id: String) { store.touch(id: id, date: .now) }

  /// Throws `StoreError`; nothing has changed then.
  ///
  /// - Parameter delay: how long its open sessions stay, for an answer to leave; nothing is allowed in them any more.
  func revoke(id: String, endingSessionsAfter delay: TimeAmount? = nil) throws(StoreError) {
    let record = try store.revoke(id: id)
    logger.notice("parent unpaired", metadata: ["name": "\(record.name)", "id": "\(record.id)"])
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

  /// Opens the window with a new code and link; one that was open closes. The code is made beside the event loop, which
  /// would stand still for 0.2 s on a small board.
  func open() -> EventLoopFuture<(offer: PairingResponder.Offer, closesIn: Duration)> {
    let responder = responder
    let bound = NIOLoopBound(self, eventLoop: loop)
    return NIOThreadPool.singleton.runIfActive(eventLoop: loop) {
      var random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
      return responder.prepareCode(using: &random)
    }.map { code in
      let now = MonotonicClock.now
      let offer = bound.value.responder.open(code, now: now)
      bound.value.settle()
      return (offer, offer.closesAt - now)
    }
  }

  func close() {
    responder.close()
    settle()
  }

  /// Succeeds when the window closes; at once when it is closed.
  func waitForEnd() -> EventLoopFuture<Outcome> {
    guard isOpen else { return loop.makeSucceededFuture(.closed(.byHand)) }
    let promise = waiting ?? loop.makePromise()
    waiting = promise
    return promise.futureResult
  }

  /// A link for one pairing on `terms`, valid for `duration`.
  func invite(_ terms: PairingTerms, for duration: Duration) throws -> PairingSecret {
    defer { settle() }
    return try responder.invite(terms: terms, for: duration, now: MonotonicClock.now)
  }

  /// The program stops: nobody waits for a window any longer.
  func stop() {
    close()
    timer?.cancel()
    saveNotes()
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
    do throws(PairingRefusal) {
      let answer = try responder.handle(PairingMessages.request(request.body), now: MonotonicClock.now, date: .now)
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
    do {
      try store.add(record)
    } catch {
      logger.error("a pairing could not be stored", metadata: ["reason": "\(error)"])
      return HTTPResponse(Problem(500, "the child could not store the pairing; its log says why"))
    }
    onPaired(record)
    waiting?.succeed(.paired(record, words))
    waiting = nil
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
      waiting?.succeed(.closed(reason))
      waiting = nil
    case .wrongCode(let left):
      logger.warning("a wrong pairing code was tried", metadata: ["tries-left": "\(left)"])
    case .wrongProof:
      logger.warning("a pairing link was tried without its secret")
    case .invited(let terms):
      logger.notice("invited", metadata: ["name": "\(terms.name ?? "")", "allow": "\(terms.permissions.names)"])
    case .inviteExpired(let terms):
      logger.info("an invitation was not used in time", metadata: ["name": "\(terms.name ?? "")"])
    case .paired(let record, _, let means):
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
    }
  }
}

extension UnixTime {
  /// The system's clock.
  static var now: UnixTime { UnixTime(seconds: MonotonicClock.unixNanoseconds / 1_000_000_000) }
}
