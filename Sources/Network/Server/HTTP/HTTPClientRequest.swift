public import NIOCore
public import NIOHTTP1
public import Signaling

/// A request to send.
public struct HTTPClientRequest: Sendable {
  public var method: HTTPMethod
  /// Must have the client's origin.
  public var url: HTTPURL
  /// Without `Host` and `Content-Length`, which the client adds.
  public var headers: HTTPHeaders
  public var body: [UInt8]
  /// Overrides the client's limit.
  public var timeout: TimeAmount?

  public init(
    _ method: HTTPMethod, _ url: HTTPURL, headers: HTTPHeaders = [:], body: [UInt8] = [], timeout: TimeAmount? = nil
  ) {
    self.timeout = timeout
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }

  /// The request head to send.
  var head: HTTPRequestHead {
    var headers = headers
    headers.replaceOrAdd(name: "Host", value: url.origin.authority)
    headers.replaceOrAdd(name: "User-Agent", value: "Cradle")
    if !body.isEmpty || method == .POST || method == .PATCH {
      headers.replaceOrAdd(name: "Content-Length", value: String(body.count))
    }
    return HTTPRequestHead(version: .http1_1, method: method, uri: url.target, headers: headers)
  }

  /// Whether it may be retried. RFC 9110 section 9.2.2, RFC 5789 section 2.
  var isIdempotent: Bool { method != .POST && method != .PATCH }
}

extension HTTPClient {
  /// Leaving must not be held up by a server that may be gone.
  private static let deletionTimeout: TimeAmount = .seconds(3)

  /// Sends a WHEP client's request.
  public func send(
    _ request: WHEPClientRequest, then completion: @escaping (Result<WHEPResponse, HTTPClientError>) -> Void
  ) {
    let (method, timeout): (HTTPMethod, TimeAmount?) =
      switch request.method {
      case .delete: (.DELETE, Self.deletionTimeout)
      case .patch: (.PATCH, nil)
      case .post: (.POST, nil)
      }
    let headers = HTTPHeaders(request.headers.fields.map { ($0.name, $0.value) })
    send(
      HTTPClientRequest(method, request.url, headers: headers, body: request.body, timeout: timeout)
    ) { result in
      completion(result.map { WHEPResponse($0) })
    }
  }
}
