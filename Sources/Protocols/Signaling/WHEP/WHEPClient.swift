public import SDP
public import Wire

/// One viewing session, as the viewer (draft-ietf-wish-whep-03): calls and responses go in, actions come out.
///
/// The order of calls: `start` once with the peer connection's offer; candidates as they are found; `leave` at any time.
public struct WHEPClient: Sendable {
  enum State: Sendable {
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
  struct Exchange<Purpose: Sendable>: Sendable {
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

  struct Creation: Sendable {
    var offer: [UInt8]
    var trickle: TrickleQueue
  }

  struct Deletion: Sendable {
    /// The session's failure has been reported.
    var isSilent: Bool
  }

  let configuration: WHEPClientConfiguration
  private var random: any RandomNumberGenerator & Sendable
  var state: State = .fresh
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
    session.restart = LocalRestart(candidates: candidates)
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
      return repeatPATCH(exchange, session)
    case .deleting(let exchange) where exchange.isDue(now):
      return delete(exchange.url, isSilent: exchange.purpose.isSilent, attempts: exchange.attempts + 1)
    case .fresh, .creating, .abandoned, .deleting, .ended:
      return []
    }
  }

  // MARK: - Common to all requests

  mutating func fail(_ error: WHEPClientError) -> [WHEPClientAction] {
    state = .ended
    return [.failed(error)]
  }

  mutating func request(
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
  mutating func wait(afterAttempt attempts: Int, asked: Duration?) -> Duration? {
    guard attempts < configuration.maximumAttempts, asked ?? .zero <= configuration.longestWait else { return nil }
    let doubled = configuration.firstWait * (1 << min(attempts - 1, 16))
    let share = 768 + Int(truncatingIfNeeded: random.next() & 511)
    return max(asked ?? .zero, min(doubled, configuration.longestWait) * share / 1024)
  }
}
