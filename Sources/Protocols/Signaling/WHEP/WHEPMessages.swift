public import Pairing
public import SDP
public import Wire

/// A request as received by the HTTP server.
public struct WHEPRequest: Hashable, Sendable {
  public var method: String
  /// Percent-encoded, without the query.
  public var path: String
  /// Percent-encoded, without the question mark; empty when there is none.
  public var query: String
  public var headers: HTTPFields
  /// At most `WHEPConfiguration.maximumBodyBytes`, or one more to show that it is too long.
  public var body: [UInt8]
  /// The key for rate limits: the peer's IP address as text.
  public var client: String
  /// Identifies the token among all; empty without one.
  public var credential: String

  public init(
    method: String, path: String, query: String = "", headers: HTTPFields = [:], body: [UInt8] = [],
    client: String = "", credential: String = ""
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
    self.client = client
    self.credential = credential
  }
}

/// A response; the HTTP server adds `Content-Length`.
public struct WHEPResponse: Hashable, Sendable {
  public var status: Int
  public var headers: HTTPFields
  public var body: [UInt8]
  /// What the body says, where it is a refusal.
  public private(set) var problem: Problem?

  public init(status: Int, headers: HTTPFields = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// A problem as a response, for any path of the server. 401 asks for a bearer token (RFC 6750 section 3).
  public init(_ problem: Problem) {
    status = problem.status
    headers = ["Content-Type": Problem.contentType]
    if let wait = problem.retryAfter {
      let (seconds, fraction) = wait.components
      headers.add("Retry-After", String(max(1, seconds + (fraction > 0 ? 1 : 0))))
    }
    if problem.status == 401 { headers.add("WWW-Authenticate", #"Bearer realm="cradle""#) }
    body = problem.body
    self.problem = problem
  }
}

/// Identifies one viewer's session: 144 random bits, URL-safe. Whoever knows it and is authorized may change or end it.
public struct WHEPSessionID: Hashable, Sendable, CustomStringConvertible {
  /// 24 characters of base64url (RFC 4648 section 5).
  public let description: String

  init(random: inout some RandomNumberGenerator) {
    description = randomText(characters: 24, random: &random)
  }
}

/// Characters of base64url, six random bits each.
func randomText(characters count: Int, random: inout some RandomNumberGenerator) -> String {
  let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
  return String(decoding: (0..<count).map { _ in alphabet[Int(random.next() & 63)] }, as: UTF8.self)
}

/// A viewer's offer that passed every check; the shell creates a peer connection for it.
public struct WHEPCreation: Hashable, Sendable {
  public var session: WHEPSessionID
  public var offer: SessionDescription
  /// From `?camera=`.
  public var cameraID: String?
  public var permissions: Permissions
}

/// What the shell is to do for a request.
public enum WHEPEffect: Hashable, Sendable {
  case respond(WHEPResponse)
  /// Make a session, then call `completeCreate`.
  case createSession(WHEPCreation)
  /// Add the candidates, and respond.
  case addCandidates(WHEPSessionID, TrickleFragment, WHEPResponse)
  /// Restart ICE with the peer's new credentials and candidates, then call `completeRestart`.
  case restart(WHEPSessionID, ufrag: String, pwd: String, TrickleFragment)
  /// Close the session, and respond.
  case endSession(WHEPSessionID, WHEPResponse)
}

/// Our ICE credentials and candidates after a restart.
public struct WHEPRestartedICE: Hashable, Sendable {
  public var ufrag: String
  public var pwd: String
  /// Attribute text from `candidate:` on.
  public var candidates: [String]

  public init(ufrag: String, pwd: String, candidates: [String]) {
    self.ufrag = ufrag
    self.pwd = pwd
    self.candidates = candidates
  }
}

/// The configuration of a WHEP endpoint.
public struct WHEPConfiguration: Sendable {
  /// Where offers are posted; sessions are below it.
  public var path: String
  public var iceServers: [ICEServerDocument]
  /// 503 beyond it: each viewer costs packets.
  public var maximumSessions: Int
  /// 413 beyond it. The same as the SDP parser's limit.
  public static let maximumBodyBytes = SDPLimits.bytes
  /// The `Retry-After` of 503.
  public var retryAfter: Duration

  public init(
    path: String = "/whep", iceServers: [ICEServerDocument] = [], maximumSessions: Int = 32,
    retryAfter: Duration = .seconds(5)
  ) {
    self.path = path
    self.iceServers = iceServers
    self.maximumSessions = maximumSessions
    self.retryAfter = retryAfter
  }
}
