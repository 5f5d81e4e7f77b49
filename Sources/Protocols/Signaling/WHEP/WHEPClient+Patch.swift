internal import SDP
internal import Wire

// PATCH: our candidates and ICE restarts. One at a time, so that they arrive in order. RFC 9725 section 4.3, which the
// WHEP draft repeats.
extension WHEPClient {
  struct OpenSession: Sendable {
    var url: HTTPURL
    /// Of the current ICE session.
    var entityTag: String?
    var trickle: TrickleQueue
    /// The server has not refused fragments. A refusal is no failure: the offer had our first candidates, and our checks
    /// show it our addresses anyway.
    var canTrickle: Bool
    /// Requested, not sent yet.
    var restart: LocalRestart?
    var exchange: Exchange<Patch>?

    init(url: HTTPURL, entityTag: String?, trickle: TrickleQueue, canTrickle: Bool) {
      self.url = url
      self.entityTag = entityTag
      self.trickle = trickle
      self.canTrickle = canTrickle
    }
  }

  enum Patch: Sendable {
    case trickle(TrickleFragment)
    case restart(TrickleFragment)

    var fragment: TrickleFragment {
      switch self {
      case .trickle(let fragment), .restart(let fragment): fragment
      }
    }
  }

  struct LocalRestart: Sendable {
    var candidates: [String]
  }

  /// Adds to the queue, in whatever state, and sends it if possible.
  mutating func trickle(_ change: (inout TrickleQueue) -> Void) -> [WHEPClientAction] {
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

  /// Sends the queue, unless a PATCH is in flight.
  mutating func patchNext(_ session: OpenSession) -> [WHEPClientAction] {
    var session = session
    if session.exchange == nil {
      if let restart = session.restart {
        session.restart = nil
        return patch(.restart(session.trickle.fragment(restart.candidates)), session)
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

  mutating func repeatPATCH(_ exchange: Exchange<Patch>, _ session: OpenSession) -> [WHEPClientAction] {
    patch(
      exchange.purpose, session, to: exchange.url, attempts: exchange.attempts + 1, redirects: exchange.redirects)
  }

  mutating func receivePATCH(
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
  mutating func retryPATCH(
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
}
