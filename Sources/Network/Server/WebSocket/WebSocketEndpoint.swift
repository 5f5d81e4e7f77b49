internal import NIOCore
internal import NIOHTTP1
internal import NIOWebSocket
internal import Signaling
internal import Synchronization

/// A path at which the server accepts WebSockets.
public struct WebSocketEndpoint: Sendable {
  let path: String
  let limits: WebSocketLimits
  let gate: ConnectionGate
  let accept: @Sendable (WebSocketConnection) -> Void

  /// - Parameters:
  ///   - maximumConnections: concurrent connections; further ones get 503 with `Retry-After`.
  ///   - accept: called on the connection's event loop; must set `onText` and `onClose` before returning.
  public init(
    path: String, limits: WebSocketLimits = WebSocketLimits(), maximumConnections: Int = 256,
    accept: @escaping @Sendable (WebSocketConnection) -> Void
  ) {
    self.path = path
    self.limits = limits
    gate = ConnectionGate(limit: maximumConnections)
    self.accept = accept
  }

  private func serves(_ uri: String) -> Bool {
    uri.prefix { $0 != "?" } == path
  }

  /// Accepts upgrade requests for the path (RFC 6455 section 4.2). Other requests continue as plain HTTP.
  var upgrader: any HTTPServerProtocolUpgrader & Sendable {
    NIOWebSocketServerUpgrader(
      maxFrameSize: limits.maximumMessageBytes, automaticErrorHandling: false,
      shouldUpgrade: { channel, head in
        guard head.method == .GET, serves(head.uri), gate.enter() else {
          return channel.eventLoop.makeSucceededFuture(nil)
        }
        let limiter = try? channel.pipeline.syncOperations.handler(type: ConnectionLimiterHandler.self)
        limiter?.noteRequest(head.headers)
        // Only what is needed: it is kept as long as the connection.
        channel.closeFuture.whenComplete { [gate] _ in gate.leave() }
        return channel.eventLoop.makeSucceededFuture(["Server": "Cradle"])
      },
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          accept(try WebSocketConnection(channel: channel, role: .server, limits: limits))
        }
      })
  }

  /// The response to a request for the path that was not upgraded.
  func refusal(of request: HTTPRequest) -> HTTPResponse? {
    guard request.path == path else { return nil }
    guard request.method == .GET else { return HTTPResponse(Problem(405, "this path is a WebSocket")) }
    if request.headers[canonicalForm: "upgrade"].contains(where: { $0.lowercased() == "websocket" }), gate.isFull {
      return HTTPResponse(Problem(503, "the child's limit of connections is reached", retryAfter: .seconds(5)))
    }
    // RFC 9110 section 15.5.22.
    var response = HTTPResponse(
      Problem(426, "this path is a WebSocket, version 13, as the first request of a connection"))
    response.headers.add(name: "Upgrade", value: "websocket")
    return response
  }
}

/// Counts open connections.
final class ConnectionGate: Sendable {
  private let limit: Int
  private let open = Atomic<Int>(0)

  init(limit: Int) {
    self.limit = limit
  }

  var isFull: Bool { open.load(ordering: .relaxed) >= limit }

  /// Whether one more may be opened.
  func enter() -> Bool {
    if open.wrappingAdd(1, ordering: .relaxed).newValue <= limit { return true }
    leave()
    return false
  }

  func leave() {
    open.wrappingSubtract(1, ordering: .relaxed)
  }
}
