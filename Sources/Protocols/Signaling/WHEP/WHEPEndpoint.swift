internal import Pairing
public import SDP
public import Wire

/// The server side of WHEP (draft-ietf-wish-whep-03) with the statuses of interfaces/wire.md: requests go in, effects come out,
/// and the shell reports the outcome of each effect. One for all viewers.
public struct WHEPEndpoint: Sendable {
  /// A session's protocol state.
  private enum Session: Sendable {
    /// The shell is creating it; nobody knows its URL yet.
    case creating(remote: [ICEIdentity], location: String, credential: String)
    case open(OpenSession)
  }

  /// Identifies an ICE session of the viewer.
  private struct ICEIdentity: Hashable, Sendable {
    var ufrag: String
    var pwd: String
  }

  private struct OpenSession: Sendable {
    /// Whose it is: nobody else's requests find it.
    var credential: String
    /// With quotes. Changes with each ICE session.
    var entityTag: String
    /// The viewer's current credentials, several if its sections differ.
    var remote: [ICEIdentity]
    /// The credentials of a restart in progress.
    var restartingTo: ICEIdentity?
    /// The answer's tagged section, for our fragments.
    var mid: String
    var mediaLine: String
    var bundle: [String]
    var iceOptions: [String]
    var isICELite: Bool
  }

  private let configuration: WHEPConfiguration
  /// Named to the next viewer that is accepted; credentials may be its own.
  public var iceServers: [ICEServerDocument]
  private var random: any RandomNumberGenerator & Sendable
  private var sessions: [WHEPSessionID: Session] = [:]
  /// Offers: twenty at once, then four a second for each address; each costs about two milliseconds.
  private var creations = RateLimiter<String>(burst: 20, interval: .milliseconds(250))

  public init(configuration: WHEPConfiguration, random: any RandomNumberGenerator & Sendable) {
    self.configuration = configuration
    iceServers = configuration.iceServers
    self.random = random
  }

  /// Sessions counted against the maximum.
  public var sessionCount: Int { sessions.count }

  /// Whether this endpoint serves a path.
  public func serves(path: String) -> Bool {
    path == configuration.path || path.hasPrefix(configuration.path + "/")
  }

  /// Handles one request.
  public mutating func handle(_ request: WHEPRequest, authorization: Authorization, now: Instant) -> WHEPEffect {
    do throws(Problem) {
      return try route(request, authorization, now)
    } catch {
      return .respond(finish(WHEPResponse(error), for: request))
    }
  }

  /// A session has ended for another reason than DELETE: the peer connection failed, the token was revoked.
  public mutating func sessionEnded(_ id: WHEPSessionID) {
    sessions[id] = nil
  }

  // MARK: - Outcomes that the shell reports

  /// The shell has created the session, or failed to. The problem is for example 503 when no place is left, or
  /// `Problem(negotiation:)`.
  public mutating func completeCreate(
    _ id: WHEPSessionID, _ result: Result<SessionDescription, Problem>
  ) -> WHEPResponse {
    guard case .creating(let remote, let location, let credential)? = sessions[id] else {
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
        credential: credential, entityTag: newEntityTag(), remote: remote, mid: tagged?.mid ?? "",
        mediaLine: tagged.map { "\($0.kind.name) 9 \($0.transport) \($0.formats.joined(separator: " "))" }
          ?? "audio 9 - 0",
        bundle: answer.bundle ?? [], iceOptions: tagged?.iceOptions ?? [], isICELite: answer.isICELite)
      sessions[id] = .open(session)
      var response = WHEPResponse(status: 201, body: Array(answer.description.utf8))
      response.headers.add("Content-Type", MediaType.sdp)
      response.headers.add("Location", location)
      response.headers.add("ETag", session.entityTag)
      response.headers.add("Accept-Patch", MediaType.trickleFragment)
      // It contains credentials.
      response.headers.add("Cache-Control", "no-store")
      for link in iceServers.flatMap(\.links) { response.headers.add("Link", link) }
      return finish(response)
    }
  }

  /// The shell has restarted ICE, or failed to; then the session continues as it was.
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

  private mutating func newEntityTag() -> String {
    "\"" + randomText(characters: 12, random: &random) + "\""
  }

  // MARK: - Routing

  private enum Target {
    case endpoint
    case session(String)
    case nothing
  }

  private func target(_ path: String) -> Target {
    guard serves(path: path) else { return .nothing }
    let rest = path.dropFirst(configuration.path.count).drop { $0 == "/" }
    if rest.isEmpty { return .endpoint }
    return rest.contains("/") ? .nothing : .session(String(rest))
  }

  private mutating func route(
    _ request: WHEPRequest, _ authorization: Authorization, _ now: Instant
  ) throws(Problem) -> WHEPEffect {
    let target = target(request.path)
    // A browser sends CORS preflights without credentials, so this is answered before authentication (Fetch standard).
    if request.method == "OPTIONS" { return .respond(options(target)) }
    let permissions = try authorize(authorization)
    switch target {
    case .nothing:
      throw Problem(404, "there is nothing at this path; offers go to \(configuration.path)")
    case .endpoint:
      return try handleEndpoint(request, permissions, now)
    case .session(let name):
      guard let (id, session) = openSession(name), session.credential == request.credential else {
        throw Problem(404, "no such session; it may have ended")
      }
      return try handleSession(request, id, session)
    }
  }

  private func authorize(_ authorization: Authorization) throws(Problem) -> Permissions {
    if let problem = Problem(refusing: authorization) { throw problem }
    guard case .granted(let permissions) = authorization else { return [] }
    return permissions
  }

  private mutating func handleEndpoint(
    _ request: WHEPRequest, _ permissions: Permissions, _ now: Instant
  ) throws(Problem) -> WHEPEffect {
    switch request.method {
    case "POST":
      return .createSession(try create(request, permissions, now))
    case "GET", "HEAD":
      // Section "HTTP usage" of the draft: success without content, with the type by which players know an endpoint.
      let response = WHEPResponse(status: 200, headers: ["Content-Type": MediaType.sdp, "Accept-Post": MediaType.sdp])
      return .respond(finish(response, for: request))
    default:
      return .respond(methodNotAllowed(request, allow: Self.endpointMethods))
    }
  }

  private mutating func handleSession(
    _ request: WHEPRequest, _ id: WHEPSessionID, _ session: OpenSession
  ) throws(Problem) -> WHEPEffect {
    switch request.method {
    case "PATCH":
      return try patch(request, id, session)
    case "DELETE":
      // Entity tags are ignored here, as the draft says.
      sessions[id] = nil
      return .endSession(id, finish(WHEPResponse(status: 200), for: request))
    case "GET", "HEAD":
      return .respond(finish(WHEPResponse(status: 204), for: request))
    default:
      return .respond(methodNotAllowed(request, allow: Self.sessionMethods))
    }
  }

  private func openSession(_ name: String) -> (WHEPSessionID, OpenSession)? {
    for (id, session) in sessions where constantTimeEqual(Array(id.description.utf8), Array(name.utf8)) {
      if case .open(let open) = session { return (id, open) }
    }
    return nil
  }

  // MARK: - POST

  private mutating func create(
    _ request: WHEPRequest, _ permissions: Permissions, _ now: Instant
  ) throws(Problem) -> WHEPCreation {
    if case .refused(let wait) = creations.admit(request.client, now: now) {
      throw Problem(429, "too many offers", retryAfter: wait)
    }
    guard MediaType.isAccepted(MediaType.sdp, by: request.headers["Accept"]) else {
      throw Problem(406, "the answer is \(MediaType.sdp), which Accept leaves out")
    }
    let text = try body(of: request, type: MediaType.sdp)
    let offer: SessionDescription
    do {
      offer = try SessionDescription(parsing: text)
    } catch {
      throw Problem(400, "malformed SDP, \(error)")
    }
    let cameraID = try URLQuery(request.query).value(of: "camera")
    try check(offer, permissions)
    guard sessions.count < configuration.maximumSessions else {
      throw Problem(503, "all \(configuration.maximumSessions) places are taken", retryAfter: configuration.retryAfter)
    }
    let id = WHEPSessionID(random: &random)
    var remote: [ICEIdentity] = []
    for section in offer.media {
      guard let ufrag = section.iceUfrag, let pwd = section.icePwd else { continue }
      let identity = ICEIdentity(ufrag: ufrag, pwd: pwd)
      if !remote.contains(identity) { remote.append(identity) }
    }
    // RFC 3986 section 5.2: relative to the request, so that it is right behind a proxy that adds a path.
    let folder = request.path.hasSuffix("/") ? "" : configuration.path.split(separator: "/").last.map { $0 + "/" } ?? ""
    sessions[id] = .creating(remote: remote, location: folder + id.description, credential: request.credential)
    return WHEPCreation(session: id, offer: offer, cameraID: cameraID, permissions: permissions)
  }

  private func check(_ offer: SessionDescription, _ permissions: Permissions) throws(Problem) {
    guard !permissions.isDisjoint(with: [.view, .listen, .talk]) else {
      throw Problem(403, "this token allows neither view, listen nor talk")
    }
    let media = offer.media.filter { !$0.isRejected && ($0.kind == .audio || $0.kind == .video) }
    if !permissions.contains(.talk), media.contains(where: { $0.kind == .audio && $0.direction == .sendOnly }) {
      // As those of WHIP, for which this is not the place.
      let onlySends = !media.contains(where: \.direction.receives)
      throw Problem(
        403,
        "this token does not allow talk"
          + (onlySends ? ", and the offer asks for nothing: a viewer's sections are recvonly" : ""))
    }
    let asked = media.reduce(into: Permissions()) { asked, section in
      if section.direction.receives { asked.insert(section.kind == .video ? .view : .listen) }
      if section.direction.sends, section.kind == .audio { asked.insert(.talk) }
    }
    guard !asked.isEmpty, asked.isDisjoint(with: permissions), !offer.media.contains(where: \.isDataChannel) else {
      return
    }
    throw Problem(403, "this token does not allow \(asked.names.joined(separator: " or "))")
  }

  /// The body as text, after the checks that come before its meaning.
  private func body(of request: WHEPRequest, type: String) throws(Problem) -> String {
    if let named = request.headers["Content-Type"], !MediaType.matches(named, type) {
      throw Problem(415, "the content type here is \(type)")
    }
    guard request.body.count <= WHEPConfiguration.maximumBodyBytes else {
      throw Problem(413, "over \(WHEPConfiguration.maximumBodyBytes) bytes")
    }
    // Names may be in another encoding (RFC 8866 section 6.10). What matters is ASCII and checked where it is read.
    return String(decoding: request.body, as: UTF8.self)
  }

  // MARK: - PATCH: trickled candidates and ICE restarts

  /// Candidates, or a restart if the credentials are new.
  private mutating func patch(
    _ request: WHEPRequest, _ id: WHEPSessionID, _ session: OpenSession
  ) throws(Problem) -> WHEPEffect {
    let text = try body(of: request, type: MediaType.trickleFragment)
    let fragment: TrickleFragment
    do {
      fragment = try TrickleFragment(parsing: text)
    } catch {
      throw Problem(400, "malformed SDP fragment, \(error)")
    }
    // Section "HTTP PATCH request usage" of the draft: 428 without a tag, 412 for another ICE session's. Players also
    // send `*` with candidates, although it is meant for restarts; it matches any session. Others send no tag: the present
    // credentials name the ICE session as well.
    let condition = IfMatch(request.headers["If-Match"])
    let namesPresentSession = session.remote.contains { $0.ufrag == fragment.ufrag }
    guard condition != .missing || namesPresentSession else {
      throw Problem(428, "send If-Match with the ETag of the session, or its present ice-ufrag")
    }
    guard condition == .missing || condition.allows(session.entityTag) else {
      throw Problem(412, "the ETag is that of an ICE session before the last restart")
    }
    guard let ufrag = fragment.ufrag, !session.remote.contains(where: { $0.ufrag == ufrag }) else {
      if let pwd = fragment.pwd, !session.remote.contains(where: { $0.pwd == pwd }) {
        throw Problem(400, "ice-pwd changed without ice-ufrag")
      }
      // The draft: 204 without an ETag.
      return .addCandidates(id, fragment, finish(WHEPResponse(status: 204), for: request))
    }
    guard let pwd = fragment.pwd else { throw Problem(400, "a new ice-ufrag needs a new ice-pwd") }
    var session = session
    session.restartingTo = ICEIdentity(ufrag: ufrag, pwd: pwd)
    sessions[id] = .open(session)
    return .restart(id, ufrag: ufrag, pwd: pwd, fragment)
  }

  // MARK: - Common to all responses

  private static var endpointMethods: String { "GET, HEAD, OPTIONS, POST" }
  private static var sessionMethods: String { "DELETE, GET, HEAD, OPTIONS, PATCH" }

  private func options(_ target: Target) -> WHEPResponse {
    var response = WHEPResponse(status: 200)
    if case .session = target {
      response.headers.add("Allow", Self.sessionMethods)
      response.headers.add("Accept-Patch", MediaType.trickleFragment)
    } else {
      response.headers.add("Allow", Self.endpointMethods)
      response.headers.add("Accept-Post", MediaType.sdp)
    }
    response.headers.add("Access-Control-Allow-Methods", "DELETE, GET, HEAD, OPTIONS, PATCH, POST")
    response.headers.add("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match")
    response.headers.add("Access-Control-Max-Age", "86400")
    return finish(response)
  }

  private func methodNotAllowed(_ request: WHEPRequest, allow: String) -> WHEPResponse {
    var response = WHEPResponse(Problem(405, "\(request.method) is not allowed here; allowed are \(allow)"))
    response.headers.add("Allow", allow)
    return finish(response, for: request)
  }

  /// Adds the common fields. CORS allows any origin, because only a bearer token gives access: there are no cookies for a
  /// foreign page to abuse.
  private func finish(_ response: WHEPResponse, for request: WHEPRequest? = nil) -> WHEPResponse {
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
  /// A well-formed offer that cannot be answered.
  public init(negotiation error: NegotiationError) {
    self.init(400, "the offer cannot be answered: \(error)")
  }
}

extension ICEServerDocument {
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
