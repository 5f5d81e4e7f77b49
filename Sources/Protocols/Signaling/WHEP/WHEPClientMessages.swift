public import SDP
public import Wire

/// Identifies one request until its response.
public struct WHEPRequestID: Hashable, Sendable {
  let number: UInt64
}

/// A request for the shell to send. The HTTP client adds `Host` and `Content-Length`, and follows no redirects.
public struct WHEPClientRequest: Hashable, Sendable {
  public enum Method: String, Sendable {
    case delete = "DELETE"
    case patch = "PATCH"
    case post = "POST"
  }

  public var id: WHEPRequestID
  public var method: Method
  /// Nearly always of the configured origin. Another one needs a connection of its own with its own trust; the token is
  /// then not among the headers.
  public var url: HTTPURL
  public var headers: HTTPFields
  public var body: [UInt8]
}

/// The configuration of one viewing session.
public struct WHEPClientConfiguration: Sendable {
  /// Where the offer is posted.
  public var url: HTTPURL
  /// Goes to `url`'s origin alone, as a bearer token (RFC 6750 section 2.1).
  public var token: String?
  /// How often one request is sent at most; with the delays below, a minute for a busy server.
  public var maximumAttempts = 5
  /// Fewer than browsers follow: here more would be a loop.
  public var maximumRedirects = 5
  /// Before the second attempt; doubles before each further one.
  public var firstWait: Duration = .milliseconds(500)
  /// A longer `Retry-After` counts as a refusal: nobody would wait for it.
  public var longestWait: Duration = .seconds(30)

  public init(url: HTTPURL, token: String? = nil) {
    self.url = url
    self.token = token
  }
}

/// The server's side of an ICE session.
public struct WHEPRemoteICE: Hashable, Sendable {
  public var ufrag: String
  public var pwd: String
  /// Attribute text from `candidate:` on.
  public var candidates: [String] = []
  /// No more will follow.
  public var isComplete = false
}

/// Actions for the shell, in order. `failed` or `closed` comes once and ends the session; a DELETE may still be sent with
/// `failed`.
public enum WHEPClientAction: Hashable, Sendable {
  /// Send it, then hand its response to `receive`, or its failure to `requestFailed`.
  case send(WHEPClientRequest)
  /// The server is busy; the offer is posted again after this time.
  case waiting(WHEPRefusal, time: Duration)
  /// The session is open. Give the answer to the peer connection, and the servers to its ICE agent.
  case answered(SessionDescription, iceServers: [ICEServerDocument])
  /// Later candidates of the server (attribute text from `candidate:` on).
  case addCandidates([String], isComplete: Bool)
  /// The restart is agreed; this is the server's side.
  case restarted(WHEPRemoteICE)
  /// ICE stays as it was; only a new session can help.
  case restartFailed(WHEPClientError)
  case failed(WHEPClientError)
  /// Left: the server has been notified, or could not be.
  case closed
}

/// Why there is no session, or no restart.
public enum WHEPClientError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The server's refusal, 400–599.
  case refused(WHEPRefusal)
  /// The server wants to make the offer itself (406 with an SDP), as drafts of WHEP allow; not supported.
  case counterOffer
  /// Not a valid WHEP response; the text says where.
  case malformedAnswer(String)
  case badRedirect(String)
  /// No response; the text is the HTTP client's.
  case unreachable(String)
  /// There is no open session to restart.
  case notOpen

  public var description: String {
    switch self {
    case .refused(let refusal): "the server refuses: \(refusal)"
    case .counterOffer: "the server answers the offer with an offer of its own, which is not supported"
    case .malformedAnswer(let reason): "the server's answer cannot be used: \(reason)"
    case .badRedirect(let reason): "the server redirects, but \(reason)"
    case .unreachable(let reason): "no response from the server: \(reason)"
    case .notOpen: "there is no open session"
    }
  }
}
