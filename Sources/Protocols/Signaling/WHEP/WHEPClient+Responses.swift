internal import SDP
internal import Wire

// Redirects and refusals, common to all methods.
extension WHEPClient {
  /// The meaning of a response that does not depend on the method.
  enum Verdict {
    case redirect(HTTPURL)
    case badRedirect(WHEPClientError)
    /// Busy.
    case busy(WHEPRefusal)
    case final
  }

  func verdict(on response: WHEPResponse, to url: HTTPURL, redirects: Int) -> Verdict {
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
  static func follow(_ location: String, from url: HTTPURL) throws(HTTPURLError) -> HTTPURL {
    let target = try url.resolving(location)
    guard url.origin.scheme == .http || target.origin.scheme == .https else {
      throw HTTPURLError(reason: "from HTTPS to plain HTTP")
    }
    return target
  }

  /// The URL of the session that a POST has created: an accepted one, or one that waits for our answer to a counter-offer.
  static func sessionURL(of response: WHEPResponse, to url: HTTPURL) -> HTTPURL? {
    guard response.status == 201 || isCounterOffer(response),
      let location = response.headers.values("Location").first
    else { return nil }
    return try? follow(location, from: url)
  }

  static func isCounterOffer(_ response: WHEPResponse) -> Bool {
    response.status == 406 && MediaType.matches(response.headers["Content-Type"], MediaType.sdp)
  }
}

// POST.
extension WHEPClient {
  mutating func post(_ creation: Creation, to url: HTTPURL, attempts: Int, redirects: Int) -> [WHEPClientAction] {
    let headers: HTTPFields = [
      "Content-Type": MediaType.sdp, "Accept": "\(MediaType.sdp), \(Problem.contentType)",
    ]
    let request = request(.post, url, headers, body: creation.offer)
    state = .creating(
      Exchange(
        purpose: creation, url: url, attempts: attempts, redirects: redirects, step: .inFlight(request.id)))
    return [.send(request)]
  }

  mutating func receivePOST(
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
    let servers = WHEPICEServer.linked(in: response.headers.values("Link"))
    return [.answered(answer, iceServers: servers)] + patchNext(session)
  }

  /// Reports the failure, and deletes the session that the server may have created nevertheless.
  private mutating func giveUp(_ error: WHEPClientError, on session: HTTPURL?) -> [WHEPClientAction] {
    let failure = fail(error)
    guard let session else { return failure }
    return failure + delete(session, isSilent: true)
  }

  static func text(of response: WHEPResponse) throws(WHEPClientError) -> String {
    guard response.body.count <= WHEPConfiguration.maximumBodyBytes else {
      throw .malformedAnswer("over \(WHEPConfiguration.maximumBodyBytes) bytes")
    }
    guard let text = String(validating: response.body, as: UTF8.self) else { throw .malformedAnswer("not UTF-8") }
    return text
  }

  /// An entity tag, kept verbatim; nil for a malformed one.
  static func entityTag(of response: WHEPResponse) -> String? {
    guard let tag = response.headers.values("ETag").first, (1...256).contains(tag.utf8.count) else { return nil }
    return tag
  }
}

// DELETE.
extension WHEPClient {
  /// Leaving does not wait long for a response.
  private static let maximumDeletions = 3

  mutating func delete(
    _ url: HTTPURL, isSilent: Bool, attempts: Int = 1, redirects: Int = 0
  ) -> [WHEPClientAction] {
    let request = request(.delete, url)
    state = .deleting(
      Exchange(
        purpose: Deletion(isSilent: isSilent), url: url, attempts: attempts, redirects: redirects,
        step: .inFlight(request.id)))
    return [.send(request)]
  }

  mutating func receiveDELETE(
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

  mutating func retryDELETE(
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
