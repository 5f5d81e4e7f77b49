public import NIOCore
internal import NIOHTTP1
internal import NIOTLS
internal import NIOWebSocket
public import Signaling

/// Why a WebSocket could not be opened.
public enum WebSocketClientError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The server is unreachable or not trusted.
  case connection(HTTPClientError)
  /// The server answered something else than 101.
  case refused(WHEPRefusal)
  /// The server switched protocols, but not to WebSocket. RFC 6455 section 4.1.
  case badHandshake

  public var description: String {
    switch self {
    case .connection(let error): "\(error)"
    case .refused(let refusal) where refusal.status == 426 || refusal.status == 404:
      "there is no WebSocket at this address"
    case .refused(let refusal): "the server refuses the WebSocket: \(refusal)"
    case .badHandshake: "the server's answer is not a WebSocket handshake"
    }
  }

  /// The server took the connection and did not keep it, or did not answer: a busy one may do so later.
  public var isLoss: Bool {
    switch self {
    case .connection(.connectionLost), .connection(.handshakeEnded), .connection(.timedOut(.responding)): true
    case .connection, .refused, .badHandshake: false
    }
  }
}

/// One attempt to open a WebSocket. RFC 6455 section 4.1.
///
/// `trust` decides which certificates are accepted, as for `HTTPClient`. For a paired child's room that is
/// `.pinnedKey`, which only the child's own certificate satisfies. If the child has a certificate from elsewhere,
/// `.firstUse { _ in true }` accepts any: messages are signed, so a man in the middle can only see who talks to whom,
/// and block it (see `SignedMessage`).
///
/// `@unchecked Sendable` because it is confined to its event loop: every entry checks that it runs there.
public final class WebSocketClient: @unchecked Sendable {
  /// Called once, on the event loop, never from within `connect`. It must set `onText` and `onClose` before returning.
  public typealias Completion = (Result<WebSocketConnection, WebSocketClientError>) -> Void

  private enum State {
    case fresh
    case connecting(Completion)
    /// TCP is connected; TLS and the upgrade follow.
    case asking(any Channel, WebSocketRequestHandler, Completion)
    case done
  }

  public let eventLoop: any EventLoop
  private let url: HTTPURL
  private let limits: WebSocketLimits
  private let timeout: TimeAmount
  private let connector: HTTPConnector
  private var state: State = .fresh
  private var timer: Scheduled<Void>?

  /// - Parameters:
  ///   - url: `https` for `wss`, `http` for `ws`.
  ///   - timeout: for everything up to the server's response.
  /// - Throws: `HTTPClientError.tls` when the TLS library cannot be set up.
  public init(
    url: HTTPURL, trust: HTTPTrust, limits: WebSocketLimits = WebSocketLimits(), timeout: TimeAmount = .seconds(8),
    eventLoop: any EventLoop
  ) throws(HTTPClientError) {
    self.url = url
    self.limits = limits
    self.timeout = timeout
    self.eventLoop = eventLoop
    connector = try HTTPConnector(origin: url.origin, trust: trust, timeout: timeout, eventLoop: eventLoop)
  }

  /// Connects. Call it only once.
  public func connect(then completion: @escaping Completion) {
    eventLoop.preconditionInEventLoop()
    guard case .fresh = state else { preconditionFailure("a client is for one attempt") }
    state = .connecting(completion)
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    timer = eventLoop.scheduleTask(in: timeout) { bound.value.finish(.connection(.timedOut(bound.value.phase))) }
    let (url, limits) = (url, limits)
    connector.connect { [weak self] pipeline, isSecure in
      try Self.configure(pipeline, WebSocketRequestHandler(url: url, isSecure: isSecure), limits) { handler, result in
        self?.receive(result, from: handler)
      }
    }.whenComplete { result in bound.value.connected(result) }
  }

  /// Abandons the attempt; `completion` will not be called.
  public func cancel() {
    eventLoop.preconditionInEventLoop()
    end()
  }

  private static func configure(
    _ pipeline: ChannelPipeline.SynchronousOperations, _ request: WebSocketRequestHandler, _ limits: WebSocketLimits,
    report: @escaping WebSocketRequestHandler.Report
  ) throws {
    request.report = report
    let bound = NIOLoopBound(request, eventLoop: pipeline.eventLoop)
    let upgrader = NIOWebSocketClientUpgrader(
      maxFrameSize: limits.maximumMessageBytes, automaticErrorHandling: false,
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          bound.value.succeed(try WebSocketConnection(channel: channel, role: .client, limits: limits))
        }
      })
    try pipeline.addHandler(ResponseByteLimit())
    // The server may send frames right after its response.
    try pipeline.addHTTPClientHandlers(
      leftOverBytesStrategy: .forwardBytes,
      withClientUpgrade: (
        upgraders: [upgrader],
        completionHandler: { context in
          let pipeline = context.pipeline.syncOperations
          if let limit = try? pipeline.context(handlerType: ResponseByteLimit.self) {
            pipeline.removeHandler(context: limit, promise: nil)
          }
          if let request = try? pipeline.context(handlerType: WebSocketRequestHandler.self) {
            pipeline.removeHandler(context: request, promise: nil)
          }
        }
      ))
    try pipeline.addHandler(request)
  }

  /// Of several connection attempts, only the successful one counts.
  private func connected(_ result: Result<any Channel, any Error>) {
    guard case .connecting(let completion) = state else {
      if case .success(let channel) = result { channel.close(promise: nil) }
      return
    }
    switch result {
    case .failure(let error):
      finish(.connection(HTTPClientError(connecting: error)))
    case .success(let channel):
      guard let handler = try? channel.pipeline.syncOperations.handler(type: WebSocketRequestHandler.self) else {
        return finish(.connection(.connectionLost))
      }
      state = .asking(channel, handler, completion)
      handler.begin()
    }
  }

  private func receive(
    _ result: Result<WebSocketConnection, WebSocketClientError>, from sender: WebSocketRequestHandler
  ) {
    guard case .asking(_, let handler, let completion) = state, handler === sender else { return }
    switch result {
    case .failure(let error):
      finish(error)
    case .success(let connection):
      timer?.cancel()
      state = .done
      completion(.success(connection))
    }
  }

  private var phase: HTTPClientError.Phase { if case .asking = state { .responding } else { .connecting } }

  private func finish(_ error: WebSocketClientError) {
    switch state {
    case .connecting(let completion), .asking(_, _, let completion):
      end()
      completion(.failure(error))
    case .fresh, .done: break
    }
  }

  private func end() {
    timer?.cancel()
    if case .asking(let channel, _, _) = state { channel.close(promise: nil) }
    state = .done
  }
}

/// Requests the upgrade once TLS is up, and reports a refusal. Removed from the pipeline together with HTTP.
private final class WebSocketRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart
  typealias Report = (WebSocketRequestHandler, Result<WebSocketConnection, WebSocketClientError>) -> Void

  /// Of the words that come with a refusal.
  private static let maximumRefusalBytes = 4096

  private let url: HTTPURL
  var report: Report?
  private var context: ChannelHandlerContext?
  private var isSecured: Bool
  private var hasBegun = false
  /// A failure that occurred before `begin`.
  private var failure: WebSocketClientError?
  /// An answer that is no upgrade, until it is complete.
  private var refusal: HTTPResponse?

  /// - Parameter isSecure: TLS comes before the request.
  init(url: HTTPURL, isSecure: Bool) {
    self.url = url
    isSecured = !isSecure
  }

  /// Selects this connection for use.
  func begin() {
    hasBegun = true
    if let failure { report?(self, .failure(failure)) } else { ask() }
  }

  func succeed(_ connection: WebSocketConnection) {
    report?(self, .success(connection))
    report = nil
  }

  private func ask() {
    guard hasBegun, isSecured, let context else { return }
    let head = HTTPClientRequest(.GET, url).head
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  private func fail(_ error: WebSocketClientError) {
    guard failure == nil else { return }
    failure = error
    guard hasBegun else { return }
    report?(self, .failure(error))
    report = nil
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent {
      isSecured = true
      ask()
    }
    context.fireUserInboundEventTriggered(event)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head) where head.status == .switchingProtocols: fail(.badHandshake)
    case .head(let head): refusal = HTTPResponse(status: head.status, headers: head.headers)
    case .body(let bytes):
      refusal?.body.append(contentsOf: bytes.readableBytesView)
      if let refusal, refusal.body.count >= Self.maximumRefusalBytes { fail(.refused(refusal.refusal)) }
    case .end:
      if let refusal { fail(.refused(refusal.refusal)) }
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    // Some servers end before they have sent all that they announced.
    fail(refusal.map { .refused($0.refusal) } ?? .connection(.connectionLost))
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    fail(error is NIOHTTPClientUpgradeError ? .badHandshake : .connection(HTTPClientError(open: error)))
    context.close(promise: nil)
  }
}
