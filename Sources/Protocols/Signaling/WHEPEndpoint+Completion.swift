public import SDP

// What the shell did, and what the viewer hears of it.
extension WHEPEndpoint {
  /// The shell has made the session, or could not. The problem is for example 503 when no place is left, or
  /// `Problem(negotiation:)`.
  public mutating func completeCreate(
    _ id: WHEPSessionID, _ result: Result<SessionDescription, Problem>
  ) -> WHEPResponse {
    guard case .creating(let remote)? = sessions[id] else {
      return finish(
        WHEPResponse(Problem(503, "the session ended before it began", retryAfter: configuration.retryAfter)))
    }
    switch result {
    case .failure(let problem):
      sessions[id] = nil
      return finish(WHEPResponse(problem))
    case .success(let answer):
      let tagged = answer.bundle?.first.flatMap(answer.media(mid:)) ?? answer.media.first { $0.port != 0 }
      let session = OpenSession(
        entityTag: newEntityTag(), remote: remote, mid: tagged?.mid ?? "",
        mediaLine: tagged.map { "\($0.kind.name) 9 \($0.transport) \($0.formats.joined(separator: " "))" }
          ?? "audio 9 - 0",
        bundle: answer.bundle ?? [], iceOptions: tagged?.iceOptions ?? [], isICELite: answer.isICELite)
      sessions[id] = .open(session)
      var response = WHEPResponse(status: 201, body: Array(answer.description.utf8))
      response.headers.add("Content-Type", MediaType.sdp)
      response.headers.add("Location", configuration.path + "/" + id.description)
      response.headers.add("ETag", session.entityTag)
      response.headers.add("Accept-Patch", MediaType.trickleFragment)
      // It holds credentials.
      response.headers.add("Cache-Control", "no-store")
      for link in configuration.iceServers.flatMap(\.links) { response.headers.add("Link", link) }
      return finish(response)
    }
  }

  /// The shell has restarted ICE, or could not; then the session goes on as it was.
  public mutating func completeRestart(
    _ id: WHEPSessionID, _ result: Result<WHEPRestartedICE, Problem>
  ) -> WHEPResponse {
    guard case .open(var session)? = sessions[id], let remote = session.restartingTo else {
      return finish(WHEPResponse(Problem(404, "the session ended during the restart")))
    }
    session.restartingTo = nil
    defer { sessions[id] = .open(session) }
    switch result {
    case .failure(let problem):
      return finish(WHEPResponse(problem))
    case .success(let ice):
      session.remote = [remote]
      session.entityTag = newEntityTag()
      let fragment = TrickleFragment(
        ufrag: ice.ufrag, pwd: ice.pwd, iceOptions: session.iceOptions, isICELite: session.isICELite,
        bundle: session.bundle,
        sections: [
          .init(
            mid: session.mid, mediaLine: session.mediaLine, candidates: ice.candidates, endOfCandidates: true)
        ])
      var response = WHEPResponse(status: 200, body: Array(fragment.description.utf8))
      response.headers.add("Content-Type", MediaType.trickleFragment)
      response.headers.add("ETag", session.entityTag)
      response.headers.add("Cache-Control", "no-store")
      return finish(response)
    }
  }

  // MARK: - PATCH

  /// Candidates or a restart; what tells them apart is whether the credentials are the known ones.
  mutating func patch(
    _ request: WHEPRequest, _ id: WHEPSessionID, _ session: OpenSession
  ) throws(Problem) -> WHEPEffect {
    let text = try body(of: request, type: MediaType.trickleFragment)
    let fragment: TrickleFragment
    do {
      fragment = try TrickleFragment(parsing: text)
    } catch {
      throw Problem(400, "malformed SDP fragment, \(error)")
    }
    // Section "HTTP PATCH request usage" of the draft: 428 without a tag, 412 for another ICE session's. Players send
    // `*` with candidates, too, although it is meant for restarts; it matches whatever there is.
    let condition = IfMatch(request.headers["If-Match"])
    guard condition != .missing else { throw Problem(428, "send If-Match with the ETag of the session") }
    guard condition.allows(session.entityTag) else {
      throw Problem(412, "the ETag is that of an ICE session before the last restart")
    }
    guard let ufrag = fragment.ufrag, !session.remote.contains(where: { $0.ufrag == ufrag }) else {
      if let pwd = fragment.pwd, !session.remote.contains(where: { $0.pwd == pwd }) {
        throw Problem(400, "ice-pwd changed without ice-ufrag")
      }
      // 204 without an ETag, says the draft.
      return .addCandidates(id, fragment, finish(WHEPResponse(status: 204), for: request))
    }
    guard let pwd = fragment.pwd else { throw Problem(400, "a new ice-ufrag needs a new ice-pwd") }
    var session = session
    session.restartingTo = ICEIdentity(ufrag: ufrag, pwd: pwd)
    sessions[id] = .open(session)
    return .restart(id, ufrag: ufrag, pwd: pwd, fragment)
  }

  private mutating func newEntityTag() -> String {
    "\"" + randomText(characters: 12, random: &random) + "\""
  }

  // MARK: - Headers

  static var endpointMethods: String { "GET, HEAD, OPTIONS, POST" }
  static var sessionMethods: String { "DELETE, GET, HEAD, OPTIONS, PATCH" }

  private enum Method {
    static let all = "DELETE, GET, HEAD, OPTIONS, PATCH, POST"
  }

  func options(_ target: Target) -> WHEPResponse {
    var response = WHEPResponse(status: 200)
    if case .session = target {
      response.headers.add("Allow", Self.sessionMethods)
      response.headers.add("Accept-Patch", MediaType.trickleFragment)
    } else {
      response.headers.add("Allow", Self.endpointMethods)
      response.headers.add("Accept-Post", MediaType.sdp)
    }
    response.headers.add("Access-Control-Allow-Methods", Method.all)
    response.headers.add("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match")
    response.headers.add("Access-Control-Max-Age", "86400")
    return finish(response)
  }

  func methodNotAllowed(_ request: WHEPRequest, allow: String) -> WHEPResponse {
    var response = WHEPResponse(Problem(405, "\(request.method) means nothing here; allowed are \(allow)"))
    response.headers.add("Allow", allow)
    return finish(response, for: request)
  }

  /// Adds what every response has. Any origin may ask, because only a bearer token opens anything: there are no
  /// cookies that a foreign page could use.
  func finish(_ response: WHEPResponse, for request: WHEPRequest? = nil) -> WHEPResponse {
    var response = response
    response.headers.add("Access-Control-Allow-Origin", "*")
    response.headers.add(
      "Access-Control-Expose-Headers",
      "Accept-Patch, Accept-Post, Allow, ETag, Link, Location, Retry-After, WWW-Authenticate")
    if response.status == 415 {
      // RFC 5789 section 2.2; Accept-Post for the same reason.
      response.headers.add("Accept-Patch", MediaType.trickleFragment)
      response.headers.add("Accept-Post", MediaType.sdp)
    }
    if request?.method == "HEAD" { response.body = [] }
    return response
  }
}

extension Problem {
  /// A well-formed offer that nothing can come of.
  public init(negotiation error: NegotiationError) {
    self.init(400, "the offer cannot be answered: \(error)")
  }
}

extension WHEPICEServer {
  /// `Link` values, one for each URL. RFC 9725 section 4.6, RFC 8288 section 3.
  var links: [String] {
    urls.map { url in
      var link = "<" + url.filter { $0 != "<" && $0 != ">" } + ">; rel=\"ice-server\""
      if let username, let credential {
        link += "; username=\(quoted(username)); credential=\(quoted(credential)); credential-type=\"password\""
      }
      return link
    }
  }

  // RFC 9110 section 5.6.4.
  private func quoted(_ text: String) -> String {
    "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "\""
  }
}
