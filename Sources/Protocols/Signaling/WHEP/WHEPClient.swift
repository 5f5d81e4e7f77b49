public import SDP
public import Wire

/// One viewing session, as the viewer (draft-ietf-wish-whep-03): calls and responses go in, actions come out.
///
/// The order of calls: `start` once with the peer connection's offer; candidates as they are found; `leave` at any time.
public struct WHEPClient: Sendable {
  private enum State: Sendable {
    case fresh
    /// The offer is in flight, or waits for a busy server.
    case creating(Exchange<Creation>)
    /// Left while the offer was in flight: the session that it may create has to be deleted.
    case abandoned(WHEPRequestID, HTTPURL)
    case open(OpenSession)
    case deleting(Exchange<Deletion>)
    case ended
  }

  /// One request with its redirects and retries.
  private struct Exchange<Purpose: Sendable>: Sendable {
    enum Step: Sendable {
      case inFlight(WHEPRequestID)
      case waiting(until: Instant)
    }

    var purpose: Purpose
    var url: HTTPURL
    /// Times sent, without redirects.
    var attempts = 1
    var redirects = 0
    var step: Step

    func awaits(_ id: WHEPRequestID) -> Bool {
      if case .inFlight(id) = step { true } else { false }
    }

    func isDue(_ now: Instant) -> Bool {
      if case .waiting(let until) = step { until <= now } else { false }
    }

    var deadline: Instant? {
      if case .waiting(let until) = step { until } else { nil }
    }
  }

  private struct Creation: Sendable {
    var offer: [UInt8]
    var trickle: TrickleQueue
  }

  private struct Deletion: Sendable {
    /// The session's failure has been reported.
    var isSilent: Bool
  }

  private struct OpenSession: Sendable {
    var url: HTTPURL
    /// Of the current ICE session.
    var entityTag: String?
    var trickle: TrickleQueue
    /// The server has not refused fragments. A refusal is no failure: the offer had our first candidates, and our checks
    /// show it our addresses anyway.
    var canTrickle: Bool
    /// The candidates of a restart that was requested and is not sent yet.
    var restart: [String]?
    var exchange: Exchange<Patch>?
  }

  private enum Patch: Sendable {
    case trickle(TrickleFragment)
    case restart(TrickleFragment)

    var fragment: TrickleFragment {
      switch self {
      case .trickle(let fragment), .restart(let fragment): fragment
      }
    }
  }

  private let configuration: WHEPClientConfiguration
  private var random: any RandomNumberGenerator & Sendable
  private var state: State = .fresh
  private var lastNumber: UInt64 = 0

  /// - Parameter random: spreads the retries of many viewers.
  public init(configuration: WHEPClientConfiguration, random: any RandomNumberGenerator & Sendable) {
    self.configuration = configuration
    self.random = random
  }

  /// Whether the server has accepted us and we have not left.
  public var isOpen: Bool {
    if case .open = state { true } else { false }
  }

  /// Whether nothing more will be sent.
  public var hasEnded: Bool {
    if case .ended = state { true } else { false }
  }

  /// When `handleTimeout` is due; nil without a pending retry. The HTTP client has the time-outs of requests.
  public var nextDeadline: Instant? {
    switch state {
    case .creating(let exchange): exchange.deadline
    case .open(let session): session.exchange?.deadline
    case .deleting(let exchange): exchange.deadline
    case .fresh, .abandoned, .ended: nil
    }
  }

  // MARK: - Calls

  /// Posts the offer. Once.
  public mutating func start(offer: SessionDescription, now: Instant) -> [WHEPClientAction] {
    guard case .fresh = state else { preconditionFailure("a client is for one session") }
    let creation = Creation(offer: Array(offer.description.utf8), trickle: TrickleQueue(offer: offer))
    return post(creation, to: configuration.url, attempts: 1, redirects: 0)
  }

  /// A candidate of ours (attribute text from `candidate:` on) that may not have been in the offer. Goes out with the
  /// next PATCH.
  public mutating func addLocalCandidate(_ attribute: String, now: Instant) -> [WHEPClientAction] {
    trickle { $0.add(attribute) }
  }

  /// We have no more candidates.
  public mutating func endOfLocalCandidates(now: Instant) -> [WHEPClientAction] {
    trickle { $0.end() }
  }

  /// Requests an ICE restart with our new credentials and all candidates so far. Answered by `restarted` or
  /// `restartFailed`; of several that overlap, only the last.
  ///
  /// - Parameter isComplete: there will be no more candidates.
  public mutating func restartICE(
    ufrag: String, pwd: String, candidates: [String], isComplete: Bool, now: Instant
  ) -> [WHEPClientAction] {
    guard case .open(var session) = state else { return [.restartFailed(.notOpen)] }
    session.trickle.restart(ufrag: ufrag, pwd: pwd)
    if isComplete { session.trickle.end() }
    session.restart = candidates
    // Unsent candidates belong to the ICE session that ends here.
    if session.exchange?.deadline != nil { session.exchange = nil }
    return patchNext(session)
  }

  /// Ends the session; `closed` follows when the server knows.
  public mutating func leave(now: Instant) -> [WHEPClientAction] {
    switch state {
    case .creating(let exchange):
      if case .inFlight(let id) = exchange.step {
        state = .abandoned(id, exchange.url)
        return []
      }
      state = .ended
      return [.closed]
    case .open(let session):
      return delete(session.url, isSilent: false)
    case .fresh:
      state = .ended
      return [.closed]
    case .abandoned, .deleting, .ended:
      return []
    }
  }

  // MARK: - Responses

  /// The response to a request. Ignored if the request has been abandoned.
  public mutating func receive(_ response: WHEPResponse, for id: WHEPRequestID, now: Instant) -> [WHEPClientAction] {
    switch state {
    case .creating(let exchange) where exchange.awaits(id):
      return receivePOST(response, exchange, now: now)
    case .abandoned(id, let url):
      guard let session = Self.sessionURL(of: response, to: url) else {
        state = .ended
        return [.closed]
      }
      return delete(session, isSilent: false)
    case .open(let session):
      guard let exchange = session.exchange, exchange.awaits(id) else { return [] }
      return receivePATCH(response, exchange, session, now: now)
    case .deleting(let exchange) where exchange.awaits(id):
      return receiveDELETE(response, exchange, now: now)
    case .fresh, .creating, .abandoned, .deleting, .ended:
      return []
    }
  }

  /// The request failed without a response: no connection, no trust, a time-out, or a response that is too large.
  ///
  /// - Parameter reason: for a person.
  public mutating func requestFailed(_ id: WHEPRequestID, reason: String, now: Instant) -> [WHEPClientAction] {
    switch state {
    case .creating(let exchange) where exchange.awaits(id):
      // The owner decides when to try again; it also knows about the network.
      return fail(.unreachable(reason))
    case .abandoned(id, _):
      state = .ended
      return [.closed]
    case .open(let session):
      guard let exchange = session.exchange, exchange.awaits(id) else { return [] }
      return retryPATCH(exchange, session, .unreachable(reason), after: nil, now: now)
    case .deleting(let exchange) where exchange.awaits(id):
      return retryDELETE(exchange, after: nil, now: now)
    case .fresh, .creating, .abandoned, .deleting, .ended:
      return []
    }
  }

  /// Sends the retries that are due.
  public mutating func handleTimeout(now: Instant) -> [WHEPClientAction] {
    switch state {
    case .creating(let exchange) where exchange.isDue(now):
      return post(exchange.purpose, to: exchange.url, attempts: exchange.attempts + 1, redirects: exchange.redirects)
    case .open(let session):
      guard let exchange = session.exchange, exchange.isDue(now) else { return [] }
      return patch(
        exchange.purpose, session, to: exchange.url, attempts: exchange.attempts + 1, redirects: exchange.redirects)
    case .deleting(let exchange) where exchange.isDue(now):
      return delete(exchange.url, isSilent: exchange.purpose.isSilent, attempts: exchange.attempts + 1)
    case .fresh, .creating, .abandoned, .deleting, .ended:
      return []
    }
  }

  // MARK: - Common to all requests

  private mutating func fail(_ error: WHEPClientError) -> [WHEPClientAction] {
    state = .ended
    return [.failed(error)]
  }

  private mutating func request(
    _ method: WHEPClientRequest.Method, _ url: HTTPURL, _ headers: HTTPFields = [:], body: [UInt8] = []
  ) -> WHEPClientRequest {
    lastNumber += 1
    var headers = headers
    if let token = configuration.token, url.origin == configuration.url.origin {
      headers.add("Authorization", "Bearer \(token)")
    }
    return WHEPClientRequest(
      id: WHEPRequestID(number: lastNumber), method: method, url: url, headers: headers, body: body)
  }

  /// The time before attempt `attempts + 1`: the server's `Retry-After`, or our own delay if longer, which doubles and is
  /// slightly random. Nil after the last attempt, or when the server asks for too long.
  private mutating func wait(afterAttempt attempts: Int, asked: Duration?) -> Duration? {
    guard attempts < configuration.maximumAttempts, asked ?? .zero <= configuration.longestWait else { return nil }
    let doubled = configuration.firstWait * (1 << min(attempts - 1, 16))
    let share = 768 + Int(truncatingIfNeeded: random.next() & 511)
    return max(asked ?? .zero, min(doubled, configuration.longestWait) * share / 1024)
  }

  // MARK: - PATCH: our candidates and ICE restarts. RFC 9725 section 4.3, which the WHEP draft repeats

  /// Adds to the queue, in whatever state, and sends it if possible.
  private mutating func trickle(_ change: (inout TrickleQueue) -> Void) -> [WHEPClientAction] {
    switch state {
    case .creating(var exchange):
      change(&exchange.purpose.trickle)
      state = .creating(exchange)
      return []
    case .open(var session):
      change(&session.trickle)
      return patchNext(session)
    case .fresh, .abandoned, .deleting, .ended:
      return []
    }
  }

  /// Sends the queue, unless a PATCH is in flight: one at a time, so that they arrive in order.
  private mutating func patchNext(_ session: OpenSession) -> [WHEPClientAction] {
    var session = session
    if session.exchange == nil {
      if let restart = session.restart {
        session.restart = nil
        return patch(.restart(session.trickle.fragment(restart)), session)
      }
      if session.canTrickle, let batch = session.trickle.takeBatch() { return patch(.trickle(batch), session) }
    }
    state = .open(session)
    return []
  }

  private mutating func patch(
    _ patch: Patch, _ session: OpenSession, to url: HTTPURL? = nil, attempts: Int = 1, redirects: Int = 0
  ) -> [WHEPClientAction] {
    var session = session
    var headers: HTTPFields = ["Content-Type": MediaType.trickleFragment]
    switch patch {
    case .trickle:
      if let tag = session.entityTag { headers.add("If-Match", tag) }
    case .restart:
      // `*` replaces any current ICE session.
      headers.add("If-Match", "*")
    }
    let url = url ?? session.url
    let request = request(.patch, url, headers, body: Array(patch.fragment.description.utf8))
    session.exchange = Exchange(
      purpose: patch, url: url, attempts: attempts, redirects: redirects, step: .inFlight(request.id))
    state = .open(session)
    return [.send(request)]
  }

  private mutating func receivePATCH(
    _ response: WHEPResponse, _ exchange: Exchange<Patch>, _ session: OpenSession, now: Instant
  ) -> [WHEPClientAction] {
    switch verdict(on: response, to: exchange.url, redirects: exchange.redirects) {
    case .redirect(let url):
      var session = session
      // RFC 9110 section 15.4.9: a permanent redirect.
      if response.status == 308 { session.url = url }
      return patch(
        exchange.purpose, session, to: url, attempts: exchange.attempts, redirects: exchange.redirects + 1)
    case .badRedirect(let error):
      return refusePATCH(exchange, session, error)
    case .busy(let refusal):
      return retryPATCH(exchange, session, .refused(refusal), after: refusal.retryAfter, now: now)
    case .final:
      break
    }
    guard (200..<300).contains(response.status) else {
      return refusePATCH(exchange, session, .refused(WHEPRefusal(response)))
    }
    var session = session
    session.exchange = nil
    switch exchange.purpose {
    case .trickle:
      return candidates(in: response) + patchNext(session)
    case .restart:
      // A newer restart supersedes this one.
      guard session.restart == nil else { return patchNext(session) }
      do throws(WHEPClientError) {
        let remote = try restarted(response)
        session.entityTag = Self.entityTag(of: response)
        session.canTrickle = true
        return [.restarted(remote)] + patchNext(session)
      } catch {
        session.exchange = exchange
        return refusePATCH(exchange, session, error)
      }
    }
  }

  /// Retries later; after too many attempts it counts as refused.
  private mutating func retryPATCH(
    _ exchange: Exchange<Patch>, _ session: OpenSession, _ error: WHEPClientError, after asked: Duration?, now: Instant
  ) -> [WHEPClientAction] {
    guard session.restart == nil, let time = wait(afterAttempt: exchange.attempts, asked: asked) else {
      return refusePATCH(exchange, session, error)
    }
    var session = session
    session.exchange?.step = .waiting(until: now + time)
    state = .open(session)
    return []
  }

  /// 405 and 501: no PATCH at all. 422: only the other kind. 412: another ICE session. 428: wants a tag that we were not
  /// given. None has a remedy; the session continues.
  private mutating func refusePATCH(
    _ exchange: Exchange<Patch>, _ session: OpenSession, _ error: WHEPClientError
  ) -> [WHEPClientAction] {
    var session = session
    session.exchange = nil
    // Also after a failed restart: the server would take our new credentials for another restart.
    session.canTrickle = false
    guard case .restart = exchange.purpose, session.restart == nil else { return patchNext(session) }
    return [.restartFailed(error)] + patchNext(session)
  }

  private func restarted(_ response: WHEPResponse) throws(WHEPClientError) -> WHEPRemoteICE {
    // 204 means that the server took it for candidates, not for a restart.
    guard response.status == 200, MediaType.matches(response.headers["Content-Type"], MediaType.trickleFragment) else {
      throw .malformedAnswer("status \(response.status) without the server's new credentials")
    }
    let text = try Self.text(of: response)
    let fragment: TrickleFragment
    do {
      fragment = try TrickleFragment(parsing: text)
    } catch {
      throw .malformedAnswer("\(error)")
    }
    guard let ufrag = fragment.ufrag, let pwd = fragment.pwd else {
      throw .malformedAnswer("a restart without credentials")
    }
    return WHEPRemoteICE(
      ufrag: ufrag, pwd: pwd, candidates: fragment.candidates, isComplete: fragment.isComplete)
  }

  /// Some servers respond to candidates with their own.
  private func candidates(in response: WHEPResponse) -> [WHEPClientAction] {
    guard MediaType.matches(response.headers["Content-Type"], MediaType.trickleFragment),
      let text = try? Self.text(of: response), let fragment = try? TrickleFragment(parsing: text),
      !fragment.candidates.isEmpty || fragment.isComplete
    else { return [] }
    return [.addCandidates(fragment.candidates, isComplete: fragment.isComplete)]
  }

  // MARK: - Redirects and refusals, common to all methods

  /// The meaning of a response that does not depend on the method.
  private enum Verdict {
    case redirect(HTTPURL)
    case badRedirect(WHEPClientError)
    /// Busy.
    case busy(WHEPRefusal)
    case final
  }

  private func verdict(on response: WHEPResponse, to url: HTTPURL, redirects: Int) -> Verdict {
    switch response.status {
    case 307, 308:
      // RFC 9725 section 4.5, RFC 9110 sections 15.4.8 and 15.4.9: method and body stay.
      guard redirects < configuration.maximumRedirects else {
        return .badRedirect(.badRedirect("more than \(configuration.maximumRedirects) times"))
      }
      guard let location = response.headers.values("Location").first else {
        return .badRedirect(.badRedirect("does not say where to"))
      }
      do {
        return .redirect(try Self.follow(location, from: url))
      } catch {
        return .badRedirect(.badRedirect("\(error)"))
      }
    case 300..<400:
      return .badRedirect(.badRedirect("status \(response.status) would not keep the request as it is"))
    case 408, 429, 502, 503, 504:
      return .busy(WHEPRefusal(response))
    default:
      return .final
    }
  }

  /// The URL of a `Location`. Never from HTTPS to HTTP: what was private must stay private.
  private static func follow(_ location: String, from url: HTTPURL) throws(HTTPURLError) -> HTTPURL {
    let target = try url.resolving(location)
    guard url.origin.scheme == .http || target.origin.scheme == .https else {
      throw HTTPURLError(reason: "from HTTPS to plain HTTP")
    }
    return target
  }

  /// The URL of the session that a POST has created: an accepted one, or one that waits for our answer to a counter-offer.
  private static func sessionURL(of response: WHEPResponse, to url: HTTPURL) -> HTTPURL? {
    guard response.status == 201 || isCounterOffer(response),
      let location = response.headers.values("Location").first
    else { return nil }
    return try? follow(location, from: url)
  }

  private static func isCounterOffer(_ response: WHEPResponse) -> Bool {
    response.status == 406 && MediaType.matches(response.headers["Content-Type"], MediaType.sdp)
  }

  // MARK: - POST

  private mutating func post(
    _ creation: Creation, to url: HTTPURL, attempts: Int, redirects: Int
  ) -> [WHEPClientAction] {
    let headers: HTTPFields = [
      "Content-Type": MediaType.sdp, "Accept": "\(MediaType.sdp), \(Problem.contentType)",
    ]
    let request = request(.post, url, headers, body: creation.offer)
    state = .creating(
      Exchange(
        purpose: creation, url: url, attempts: attempts, redirects: redirects, step: .inFlight(request.id)))
    return [.send(request)]
  }

  private mutating func receivePOST(
    _ response: WHEPResponse, _ exchange: Exchange<Creation>, now: Instant
  ) -> [WHEPClientAction] {
    switch verdict(on: response, to: exchange.url, redirects: exchange.redirects) {
    case .redirect(let url):
      return post(exchange.purpose, to: url, attempts: exchange.attempts, redirects: exchange.redirects + 1)
    case .badRedirect(let error):
      return fail(error)
    case .busy(let refusal):
      return retryPOST(exchange, refusal, now: now)
    case .final:
      break
    }
    let session = Self.sessionURL(of: response, to: exchange.url)
    switch response.status {
    case 201:
      do throws(WHEPClientError) {
        return try open(exchange.purpose.trickle, response, at: session)
      } catch {
        return giveUp(error, on: session)
      }
    case 409 where response.headers["Retry-After"] != nil:
      // The draft: nothing is published there yet, and Retry-After says when to ask again.
      return retryPOST(exchange, WHEPRefusal(response), now: now)
    case 400..<600:
      return giveUp(Self.isCounterOffer(response) ? .counterOffer : .refused(WHEPRefusal(response)), on: session)
    default:
      return fail(.malformedAnswer("status \(response.status) where 201 belongs"))
    }
  }

  private mutating func retryPOST(
    _ exchange: Exchange<Creation>, _ refusal: WHEPRefusal, now: Instant
  ) -> [WHEPClientAction] {
    guard let time = wait(afterAttempt: exchange.attempts, asked: refusal.retryAfter) else {
      return fail(.refused(refusal))
    }
    var exchange = exchange
    exchange.step = .waiting(until: now + time)
    state = .creating(exchange)
    return [.waiting(refusal, time: time)]
  }

  private mutating func open(
    _ trickle: TrickleQueue, _ response: WHEPResponse, at url: HTTPURL?
  ) throws(WHEPClientError) -> [WHEPClientAction] {
    // The session's URL first: without it we could neither trickle nor leave.
    guard let url else { throw .malformedAnswer("Location names no session that we would ask") }
    let type = response.headers["Content-Type"]
    guard type == nil || MediaType.matches(type, MediaType.sdp) else {
      throw .malformedAnswer("its type is not \(MediaType.sdp)")
    }
    let text = try Self.text(of: response)
    let answer: SessionDescription
    do {
      answer = try SessionDescription(parsing: text)
    } catch {
      throw .malformedAnswer("\(error)")
    }
    let patchTypes = response.headers["Accept-Patch"]?.lowercased()
    let session = OpenSession(
      url: url, entityTag: Self.entityTag(of: response), trickle: trickle,
      // RFC 5789 section 3.1. Servers that leave the field out may still take fragments.
      canTrickle: patchTypes?.contains(MediaType.trickleFragment) ?? true)
    let servers = ICEServerDocument.linked(in: response.headers.values("Link"))
    return [.answered(answer, iceServers: servers)] + patchNext(session)
  }

  /// Reports the failure, and deletes the session that the server may have created nevertheless.
  private mutating func giveUp(_ error: WHEPClientError, on session: HTTPURL?) -> [WHEPClientAction] {
    let failure = fail(error)
    guard let session else { return failure }
    return failure + delete(session, isSilent: true)
  }

  private static func text(of response: WHEPResponse) throws(WHEPClientError) -> String {
    guard response.body.count <= WHEPConfiguration.maximumBodyBytes else {
      throw .malformedAnswer("over \(WHEPConfiguration.maximumBodyBytes) bytes")
    }
    guard let text = String(validating: response.body, as: UTF8.self) else { throw .malformedAnswer("not UTF-8") }
    return text
  }

  /// An entity tag, kept verbatim; nil for a malformed one.
  private static func entityTag(of response: WHEPResponse) -> String? {
    guard let tag = response.headers.values("ETag").first, (1...256).contains(tag.utf8.count) else { return nil }
    return tag
  }

  // MARK: - DELETE

  /// Leaving does not wait long for a response.
  private static let maximumDeletions = 3

  private mutating func delete(
    _ url: HTTPURL, isSilent: Bool, attempts: Int = 1, redirects: Int = 0
  ) -> [WHEPClientAction] {
    let request = request(.delete, url)
    state = .deleting(
      Exchange(
        purpose: Deletion(isSilent: isSilent), url: url, attempts: attempts, redirects: redirects,
        step: .inFlight(request.id)))
    return [.send(request)]
  }

  private mutating func receiveDELETE(
    _ response: WHEPResponse, _ exchange: Exchange<Deletion>, now: Instant
  ) -> [WHEPClientAction] {
    switch verdict(on: response, to: exchange.url, redirects: exchange.redirects) {
    case .redirect(let url):
      return delete(
        url, isSilent: exchange.purpose.isSilent, attempts: exchange.attempts, redirects: exchange.redirects + 1)
    case .busy(let refusal):
      return retryDELETE(exchange, after: refusal.retryAfter, now: now)
    case .badRedirect, .final:
      // Also when refused: nothing else can be done, and the server will time out soon.
      return finishDeletion(exchange)
    }
  }

  private mutating func retryDELETE(
    _ exchange: Exchange<Deletion>, after asked: Duration?, now: Instant
  ) -> [WHEPClientAction] {
    guard exchange.attempts < Self.maximumDeletions, let time = wait(afterAttempt: exchange.attempts, asked: asked)
    else {
      return finishDeletion(exchange)
    }
    var exchange = exchange
    exchange.step = .waiting(until: now + time)
    state = .deleting(exchange)
    return []
  }

  private mutating func finishDeletion(_ exchange: Exchange<Deletion>) -> [WHEPClientAction] {
    state = .ended
    return exchange.purpose.isSilent ? [] : [.closed]
  }
}
