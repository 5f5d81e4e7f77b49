internal import Pairing
internal import SDP
public import Wire

/// The server side of WHEP (draft-ietf-wish-whep-03) with the statuses of interfaces/wire.md: requests go in, effects come out,
/// and the shell reports the outcome of each effect. One for all viewers.
public struct WHEPEndpoint: Sendable {
  /// A session's protocol state.
  enum Session: Sendable {
    /// The shell is creating it; nobody knows its URL yet.
    case creating(remote: [ICEIdentity], location: String, credential: String)
    case open(OpenSession)
  }

  /// Identifies an ICE session of the viewer.
  struct ICEIdentity: Hashable, Sendable {
    var ufrag: String
    var pwd: String
  }

  struct OpenSession: Sendable {
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

  let configuration: WHEPConfiguration
  /// Named to the next viewer that is accepted; credentials may be its own.
  public var iceServers: [WHEPICEServer]
  var random: any RandomNumberGenerator & Sendable
  var sessions: [WHEPSessionID: Session] = [:]
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

  // MARK: - Routing

  enum Target {
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
    let cameraID = try cameraID(request.query)
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

  private func cameraID(_ query: String) throws(Problem) -> String? {
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.first == "camera" else { continue }
      guard parts.count == 2, let id = percentDecoded(parts[1]), !id.isEmpty, id.utf8.count <= 64 else {
        throw Problem(400, "the query's camera is malformed")
      }
      return id
    }
    return nil
  }

  private func percentDecoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        continue
      }
      let digits = Substring(rest.prefix(2))
      guard digits.utf8.count == 2, digits.utf8.first != UInt8(ascii: "+"), let value = UInt8(digits, radix: 16) else {
        return nil
      }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// The body as text, after the checks that come before its meaning.
  func body(of request: WHEPRequest, type: String) throws(Problem) -> String {
    if let named = request.headers["Content-Type"], !MediaType.matches(named, type) {
      throw Problem(415, "the content type here is \(type)")
    }
    guard request.body.count <= WHEPConfiguration.maximumBodyBytes else {
      throw Problem(413, "over \(WHEPConfiguration.maximumBodyBytes) bytes")
    }
    // Names may be in another encoding (RFC 8866 section 6.10). What matters is ASCII and checked where it is read.
    return String(decoding: request.body, as: UTF8.self)
  }
}
