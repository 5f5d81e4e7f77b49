internal import Linux
public import NIOCore
public import NIOHTTP1
public import Signaling
public import Wire

/// A complete HTTP request of limited size.
public struct HTTPRequest: Sendable {
  public var method: HTTPMethod
  /// Without the query.
  public var path: String
  /// The text after `?`, percent-encoded; nil if there is none.
  public var query: String?
  public var headers: HTTPHeaders
  public var body: [UInt8]
  /// Nil when the socket no longer has an IP address.
  public var remoteAddress: TransportAddress?
  /// Ours, of the connection.
  public var localAddress: TransportAddress?
  /// A proxy has said in front of the connection's bytes for whom it stands (`ProxyHeader`).
  public var isRelayed = false

  /// Whether the client runs on this machine and means it: neither a proxy on this machine, nor a page in a browser on it whose
  /// name leads here (DNS rebinding), is such a client.
  public var isFromLoopback: Bool { (remoteAddress?.ip.isLoopback ?? false) && !isForwarded && namesThisMachine }

  /// The same, and no page of elsewhere in a browser on this machine has made it ask: Fetch (`Origin`), Fetch Metadata.
  public var isLocal: Bool {
    isFromLoopback && headers["Sec-Fetch-Site"].allSatisfy { $0.lowercased() != "cross-site" }
      && headers["Origin"].allSatisfy { origin in
        guard let scheme = origin.firstRange(of: "://") else { return false }
        return isNameOfThisMachine(String(origin[scheme.upperBound...]))
      }
  }

  private var namesThisMachine: Bool {
    let fields = headers["Host"]
    // RFC 9112 section 3.2: exactly one.
    return fields.count == 1 && isNameOfThisMachine(fields[0])
  }

  /// Whether it is a name that no other network can give to this machine, nor a proxy have: an address of loopback, `localhost`
  /// and what is below it (RFC 6761 section 6.3), or, with our own port, the machine's bare name, which its /etc/hosts has
  /// at 127.0.1.1. Names with dots (`.local` ones, too) are what others look up, and what proxies are called by.
  private func isNameOfThisMachine(_ text: String) -> Bool {
    guard let (written, port) = HostAndPort.split(text) else { return false }
    let host = written.lowercased()
    if let address = IPAddress(host) { return address.isLoopback }
    if host == "localhost" || host.hasSuffix(".localhost") { return true }
    return !host.contains(".") && host == MachineName.current.lowercased() && port != nil && port == localAddress?.port
  }

  /// Whether a proxy says that it stands between, by PROXY protocol or a field: RFC 7239, RFC 8586, RFC 9110 section 7.6.3, and
  /// what proxies of all makers say, each in its own words, of the client, of themselves or of what was asked for.
  private var isForwarded: Bool {
    isRelayed
      || headers.contains { name, _ in
        let name = name.lowercased().replacing("_", with: "-")
        return name == "via" || Self.partsOfForwarding.contains { name.contains($0) }
          || Self.endsOfForwarding.contains { name.hasSuffix($0) } || Self.proxies.contains { name.hasPrefix($0) }
      }
  }

  private static let partsOfForwarding = ["forward", "proxy", "proxied", "original", "cdn-", "remote-", "client-cert"]
  private static let endsOfForwarding = ["-ip", "-addr", "-address", "clientip", "realip", "remoteip", "userip"]
  private static let proxies = [
    "cf-", "true-client", "x-envoy-", "fastly-", "fly-", "x-amz", "x-azure-", "x-appengine-", "x-arr-",
  ]
}

/// A complete HTTP response.
public struct HTTPResponse: Sendable {
  public var status: HTTPResponseStatus
  public var headers: HTTPHeaders
  public var body: [UInt8]
  /// A body without an end, in place of `body`.
  public var stream: HTTPStream?
  /// What the request has shown about its client: its connection no longer counts as a stranger's. Nil: nothing.
  public var standing: ConnectionStanding?

  public init(status: HTTPResponseStatus, headers: HTTPHeaders = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// A response that goes on until one side ends it.
  public init(stream: HTTPStream, headers: HTTPHeaders) {
    self.init(status: .ok, headers: headers)
    self.stream = stream
  }

  public init(status: HTTPResponseStatus = .ok, contentType: String, text: String, headers: HTTPHeaders = [:]) {
    self.init(status: status, headers: headers, body: Array(text.utf8))
    self.headers.replaceOrAdd(name: "Content-Type", value: contentType)
  }
}

extension HTTPResponse {
  /// A refusal as problem details (RFC 9457); 401 requests a bearer token (RFC 6750 section 3).
  public init(_ problem: Problem) {
    self.init(WHEPResponse(problem))
  }

  public init(_ response: WHEPResponse) {
    self.init(
      status: HTTPResponseStatus(statusCode: response.status),
      headers: HTTPHeaders(response.headers.fields.map { ($0.name, $0.value) }), body: response.body)
  }
}

extension HTTPResponse {
  /// What a server says that refuses, with its problem details where it sends some.
  public var refusal: WHEPRefusal { WHEPRefusal(WHEPResponse(self)) }
}

extension WHEPResponse {
  init(_ response: HTTPResponse) {
    var fields = HTTPFields()
    for (name, value) in response.headers { fields.add(name, value) }
    self.init(status: Int(response.status.code), headers: fields, body: response.body)
  }
}

/// Answers requests. Called on the event loop; the future may complete on any event loop.
public typealias HTTPResponder = @Sendable (HTTPRequest) -> EventLoopFuture<HTTPResponse>
