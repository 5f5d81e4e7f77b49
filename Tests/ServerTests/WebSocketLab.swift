import Identity
import NIOCore
import NIOPosix
import SecureTransport
import Signaling
import Wire

@testable import Server

/// A server of ours on loopback with a WebSocket at `/signal` that sends everything back, upper case.
struct WebSocketLab {
  let server: HTTPServer
  let identity: NodeIdentity

  static var loop: any EventLoop { MultiThreadedEventLoopGroup.singleton.next() }

  static func start(
    limits: WebSocketLimits = WebSocketLimits(), requests: HTTPServer.Limits = .init(), maximumConnections: Int = 8,
    on group: any EventLoop = WebSocketLab.loop, accept: (@Sendable (WebSocketConnection) -> Void)? = nil
  ) async throws -> WebSocketLab {
    let identity = NodeIdentity.generate()
    let certificate = try Certificate(
      key: identity.key, names: ["localhost"], addresses: [.v4(0x7f00_0001)])
    let endpoint = WebSocketEndpoint(
      path: "/signal", limits: limits, maximumConnections: maximumConnections,
      accept: accept ?? { socket in
        socket.onText = { [weak socket] text in
          if text == "leave" { socket?.close(.goingAway, reason: "as you wish") }
          socket?.send(text.uppercased())
        }
      })
    let server = try await HTTPServer.start(
      host: "127.0.0.1", port: 0, tls: TLSContext(key: identity.key, certificate: certificate), limits: requests,
      webSocket: endpoint, on: group
    ) { _ in group.makeSucceededFuture(HTTPResponse(contentType: "text/plain", text: "page")) }
    return WebSocketLab(server: server, identity: identity)
  }

  func url(_ target: String = "/signal") throws -> HTTPURL {
    try HTTPURL("https://127.0.0.1:\(server.port)\(target)")
  }

  var pin: HTTPTrust { .pinnedKey(sha256: CryptoHashes().sha256(identity.publicKeySPKI)) }

  func open(
    _ target: String = "/signal", trust: HTTPTrust? = nil, limits: WebSocketLimits = WebSocketLimits()
  ) async throws(WebSocketClientError) -> LabSocket {
    try await LabSocket.open(url: try! url(target), trust: trust ?? pin, limits: limits)
  }
}

/// A client's WebSocket whose events are read one after the other.
final class LabSocket: Sendable {
  enum Event: Equatable, Sendable {
    case text(String)
    case closed(WebSocketClosure)
  }

  private let socket: WebSocketConnection
  let events: AsyncStream<Event>

  private init(_ socket: WebSocketConnection) {
    self.socket = socket
    let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
    events = stream
    socket.onText = { continuation.yield(.text($0)) }
    socket.onClose = {
      continuation.yield(.closed($0))
      continuation.finish()
    }
  }

  static func open(
    url: HTTPURL, trust: HTTPTrust, limits: WebSocketLimits = WebSocketLimits()
  ) async throws(WebSocketClientError) -> LabSocket {
    let loop = WebSocketLab.loop
    let result = await withCheckedContinuation { continuation in
      loop.execute {
        let client = try! WebSocketClient(url: url, trust: trust, limits: limits, eventLoop: loop)
        client.connect { continuation.resume(returning: $0.map(LabSocket.init)) }
      }
    }
    return try result.get()
  }

  func send(_ text: String) {
    socket.eventLoop.execute { self.socket.send(text) }
  }

  func verify(within limit: TimeAmount) {
    socket.eventLoop.execute { self.socket.verify(within: limit) }
  }

  func close() {
    socket.eventLoop.execute { self.socket.close() }
  }

  func next() async -> Event? {
    for await event in events { return event }
    return nil
  }
}
