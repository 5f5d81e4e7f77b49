public import NIOCore
internal import NIOHTTP1
public import Signaling
public import Wire

/// An HTTP/1.1 client for one origin: one request at a time on one connection, which is kept alive, and reopened after
/// the server has closed it. No redirects, no cookies, no proxy.
///
/// `@unchecked Sendable` because it is confined to its event loop: every entry checks that it runs there.
public final class HTTPClient: @unchecked Sendable {
  /// Called once per request, on the event loop, never from within `send`.
  public typealias Completion = (Result<HTTPResponse, HTTPClientError>) -> Void

  public struct Limits: Sendable {
    /// The same as our server's limit; an SDP answer is about 10 KiB.
    public var maximumBodyBytes = 64 * 1024
    /// For name resolution, TCP and TLS together. Allows for three lost SYNs in a row, retried after 1, 2 and 4 s.
    public var connectTimeout: TimeAmount = .seconds(8)
    /// From `send` to the last byte.
    public var requestTimeout: TimeAmount = .seconds(12)
    /// Idle time of a connection between requests. Shorter than most servers' minute, so that no request is written to
    /// a connection that the server is closing.
    public var idleTimeout: TimeAmount = .seconds(50)
    /// Requests queued behind the current one.
    public var maximumWaiting = 16

    public init() {}
  }

  private final class Exchange {
    let request: HTTPClientRequest
    let completion: Completion
    var timer: Scheduled<Void>?
    /// It was lost on a kept-alive connection and is being retried on a fresh one.
    var isRepeated = false

    init(_ request: HTTPClientRequest, _ completion: @escaping Completion) {
      self.request = request
      self.completion = completion
    }
  }

  private enum State {
    case disconnected
    /// Until TCP is connected.
    case connecting
    /// TLS.
    case handshaking(any Channel, HTTPResponseHandler)
    /// `served` counts the responses received on it.
    case connected(any Channel, HTTPResponseHandler, served: Int)
    case closed

    var channel: (any Channel)? {
      switch self {
      case .handshaking(let channel, _), .connected(let channel, _, _): channel
      case .disconnected, .connecting, .closed: nil
      }
    }
  }

  public let eventLoop: any EventLoop
  public let origin: HTTPOrigin
  private let limits: Limits
  private let connector: HTTPConnector
  private var state: State = .disconnected
  /// Identifies the connection, so that events of an abandoned one are ignored.
  private var generation: UInt64 = 0
  /// The request in flight; only while connected.
  private var current: Exchange?
  private var waiting: [Exchange] = []
  private var connectTimer: Scheduled<Void>?
  private var idleTimer: Scheduled<Void>?
  /// Connections made so far.
  public private(set) var connectionCount = 0

  /// - Parameters:
  ///   - trust: for `https`; with plain `http` the server is not authenticated.
  ///   - mayReach: which addresses may be connected to, for an origin that somebody else has named; nil: any.
  /// - Throws: `HTTPClientError.tls` when the TLS library cannot be set up.
  public init(
    origin: HTTPOrigin, trust: HTTPTrust, limits: Limits = Limits(), eventLoop: any EventLoop,
    mayReach: (@Sendable (IPAddress) -> Bool)? = nil
  ) throws(HTTPClientError) {
    self.origin = origin
    self.limits = limits
    self.eventLoop = eventLoop
    connector = try HTTPConnector(
      origin: origin, trust: trust, timeout: limits.connectTimeout, eventLoop: eventLoop, mayReach: mayReach)
  }

  deinit {
    state.channel?.close(promise: nil)
  }

  /// Connects ahead of the first request, to save its round trips. A failure is reported by the first request.
  public func prepare() {
    eventLoop.preconditionInEventLoop()
    if case .disconnected = state { connect() }
  }

  /// Sends a request after the queued ones.
  public func send(_ request: HTTPClientRequest, then completion: @escaping Completion) {
    eventLoop.preconditionInEventLoop()
    precondition(request.url.origin == origin, "a client is for one origin")
    let exchange = Exchange(request, completion)
    if case .closed = state { return refuse(exchange, .closed) }
    guard waiting.count < limits.maximumWaiting else { return refuse(exchange, .tooManyRequests) }
    let bound = NIOLoopBound(exchange, eventLoop: eventLoop)
    exchange.timer = eventLoop.scheduleTask(in: request.timeout ?? limits.requestTimeout) { [weak self] in
      self?.requestTimedOut(bound.value)
    }
    waiting.append(exchange)
    // Deferred, because an immediate failure would call back from here.
    eventLoop.execute { [weak self] in self?.advance() }
  }

  /// Drops a connection whose own address is gone; the request in flight, if it may be repeated, goes over a new one.
  ///
  /// - Parameter own: the addresses that this machine has now.
  public func addressesChanged(_ own: Set<IPAddress>) {
    eventLoop.preconditionInEventLoop()
    guard let local = state.channel?.localAddress?.transportAddress?.ip, !own.contains(local) else { return }
    disconnect()
    requestLost(.connectionLost, mayRepeat: true)
  }

  /// Closes the connection; requests without a response fail with `closed`.
  public func close() {
    eventLoop.preconditionInEventLoop()
    let exchanges = takeAll()
    disconnect()
    state = .closed
    for exchange in exchanges { finish(exchange, .failure(.closed)) }
  }

  // MARK: - Requests

  /// Sends the next request, if possible.
  private func advance() {
    guard current == nil, let exchange = waiting.first else { return }
    switch state {
    case .disconnected:
      connect()
    case .connected(_, let handler, _):
      // Otherwise its end is being reported, which calls `advance` again.
      guard handler.isReady else { return }
      waiting.removeFirst()
      current = exchange
      idleTimer?.cancel()
      handler.send(exchange.request)
    case .connecting, .handshaking, .closed:
      break
    }
  }

  private func finish(_ exchange: Exchange, _ result: Result<HTTPResponse, HTTPClientError>) {
    exchange.timer?.cancel()
    exchange.completion(result)
  }

  private func refuse(_ exchange: Exchange, _ error: HTTPClientError) {
    let bound = NIOLoopBound(exchange, eventLoop: eventLoop)
    eventLoop.execute { bound.value.completion(.failure(error)) }
  }

  private func requestTimedOut(_ exchange: Exchange) {
    if exchange === current {
      current = nil
      disconnect()
      finish(exchange, .failure(.timedOut(.responding)))
      advance()
    } else if let index = waiting.firstIndex(where: { $0 === exchange }) {
      waiting.remove(at: index)
      finish(exchange, .failure(.timedOut(current == nil ? .connecting : .responding)))
    }
  }

  private func takeAll() -> [Exchange] {
    defer {
      current = nil
      waiting = []
    }
    return (current.map { [$0] } ?? []) + waiting
  }

  // MARK: - The connection

  private func connect() {
    state = .connecting
    generation += 1
    connectionCount += 1
    let number = generation
    connectTimer = eventLoop.scheduleTask(in: limits.connectTimeout) { [weak self] in
      guard let self, number == self.generation else { return }
      self.connectionFailed(.timedOut(.connecting))
    }
    makeConnection().whenComplete { [weak self] result in
      guard let self, number == self.generation else {
        if case .success(let channel) = result { channel.close(promise: nil) }
        return
      }
      switch result {
      case .success(let channel):
        self.connected(channel)
      case .failure(let error):
        self.connectionFailed(HTTPClientError(connecting: error))
      }
    }
  }

  private func connected(_ channel: any Channel) {
    guard let handler = try? channel.pipeline.syncOperations.handler(type: HTTPResponseHandler.self),
      !handler.hasEnded
    else { return connectionFailed(.connectionLost) }
    state = .handshaking(channel, handler)
    if handler.isReady { ready() }
  }

  private func ready() {
    guard case .handshaking(let channel, let handler) = state else { return }
    connectTimer?.cancel()
    state = .connected(channel, handler, served: 0)
    waitIdle()
    advance()
  }

  private func makeConnection() -> EventLoopFuture<any Channel> {
    let maximumBodyBytes = limits.maximumBodyBytes
    return connector.connect { [weak self] pipeline, isSecure in
      // As `addHTTPClientHandlers` does, but interim responses are counted.
      try pipeline.addHandler(HTTPRequestEncoder())
      try pipeline.addHandler(ByteToMessageHandler(HTTPResponseDecoder(informationalResponseStrategy: .forward)))
      try pipeline.addHandler(NIOHTTPRequestHeadersValidator())
      try pipeline.addHandler(
        HTTPResponseHandler(maximumBodyBytes: maximumBodyBytes, isSecure: isSecure) { handler, event in
          self?.receive(event, from: handler)
        })
    }
  }

  /// Of several connection attempts, only the successful one counts.
  private func receive(_ event: HTTPResponseHandler.Event, from sender: HTTPResponseHandler) {
    switch (state, event) {
    case (.handshaking(_, let handler), .ready) where handler === sender:
      ready()
    case (.handshaking(_, let handler), .failed(let error, _)) where handler === sender:
      connectionFailed(error)
    case (.connected(let channel, let handler, let served), .response(let response, let isReusable))
    where handler === sender:
      let exchange = current
      current = nil
      if isReusable {
        state = .connected(channel, handler, served: served + 1)
        waitIdle()
      } else {
        disconnect()
      }
      if let exchange { finish(exchange, .success(response)) }
      advance()
    case (.connected(_, let handler, let served), .failed(let error, let hadBegun)) where handler === sender:
      disconnect()
      requestLost(error, mayRepeat: served > 0 && !hadBegun && error == .connectionLost)
    case (.connected(_, let handler, _), .closed) where handler === sender:
      disconnect()
      advance()
    default:
      break
    }
  }

  private func requestLost(_ error: HTTPClientError, mayRepeat: Bool) {
    if let exchange = current {
      current = nil
      // RFC 9110 section 9.2.2: retry an idempotent request when a kept-alive connection turns out to be closed.
      if mayRepeat, exchange.request.isIdempotent, !exchange.isRepeated {
        exchange.isRepeated = true
        waiting.insert(exchange, at: 0)
      } else {
        finish(exchange, .failure(error))
      }
    }
    advance()
  }

  /// Fails all waiting requests: none would fare better.
  private func connectionFailed(_ error: HTTPClientError) {
    let exchanges = takeAll()
    disconnect()
    for exchange in exchanges { finish(exchange, .failure(error)) }
    advance()
  }

  /// Drops the connection, whatever its state.
  private func disconnect() {
    connectTimer?.cancel()
    idleTimer?.cancel()
    generation += 1
    let channel = state.channel
    if case .closed = state {} else { state = .disconnected }
    channel?.close(promise: nil)
  }

  private func waitIdle() {
    idleTimer?.cancel()
    let number = generation
    idleTimer = eventLoop.scheduleTask(in: limits.idleTimeout) { [weak self] in
      guard let self, number == self.generation, self.current == nil else { return }
      self.disconnect()
    }
  }
}
