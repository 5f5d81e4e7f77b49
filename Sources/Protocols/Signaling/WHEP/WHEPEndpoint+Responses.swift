public import SDP

// Common to all responses.
extension WHEPEndpoint {
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
    var response = WHEPResponse(Problem(405, "\(request.method) is not allowed here; allowed are \(allow)"))
    response.headers.add("Allow", allow)
    return finish(response, for: request)
  }

  /// Adds the common fields. CORS allows any origin, because only a bearer token gives access: there are no cookies for a
  /// foreign page to abuse.
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
  /// A well-formed offer that cannot be answered.
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
