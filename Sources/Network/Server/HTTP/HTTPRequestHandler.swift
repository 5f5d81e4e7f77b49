internal import NIOCore
internal import NIOHTTP1
internal import NIOWebSocket
internal import Signaling

/// Collects one request at a time, calls the responder and writes the response. One per TCP connection.
final class HTTPRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private enum State {
    case idle
    case collecting(HTTPRequestHead, [UInt8])
    case answering
    /// The last response has been written; no more requests are read.
    case leaving
  }

  /// From the last response until the connection is closed. Data that still arrives is read and discarded, because
  /// closing with unread data would make the client lose the response. RFC 9112 section 9.6.
  private static let lingering: TimeAmount = .milliseconds(300)

  private let limits: HTTPServer.Limits
  private let webSocket: WebSocketEndpoint?
  private let responder: HTTPResponder
  private let limiter: ConnectionLimiterHandler
  private let size: RequestSizeHandler
  private var state: State = .idle
  private var timer: Scheduled<Void>?

  init(
    limits: HTTPServer.Limits, webSocket: WebSocketEndpoint?, limiter: ConnectionLimiterHandler,
    size: RequestSizeHandler,
    responder: @escaping HTTPResponder
  ) {
    self.limits = limits
    self.webSocket = webSocket
    self.limiter = limiter
    self.size = size
    self.responder = responder
  }

  func channelActive(context: ChannelHandlerContext) {
    // Includes the TLS handshake and the first request.
    closeAfter(limits.requestTimeout, context: context)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    // The connection has become a WebSocket, which has its own timeouts and limits.
    timer?.cancel()
    size.isOff = true
    // Later: it may be passing on what it has read, just now.
    let bound = NIOLoopBound((context.pipeline, size), eventLoop: context.eventLoop)
    context.eventLoop.execute {
      let (pipeline, size) = bound.value
      pipeline.syncOperations.removeHandler(size, promise: nil)
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      guard case .idle = state else { return }
      size.beginRequest()
      closeAfter(limits.requestTimeout, context: context)
      state = .collecting(head, [])
      let announced = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
      if announced > limits.maximumBodyBytes { refuse(head, context: context) }
    case .body(let buffer):
      guard case .collecting(let head, var body) = state else { return }
      state = .idle
      guard body.count + buffer.readableBytes <= limits.maximumBodyBytes else { return refuse(head, context: context) }
      body.append(contentsOf: buffer.readableBytesView)
      state = .collecting(head, body)
    case .end:
      guard case .collecting(let head, let body) = state else { return }
      state = .answering
      timer?.cancel()
      answer(head, body: body, context: context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A failed upgrade continues as a plain request and gets a response as such.
    if error is NIOWebSocketUpgradeError { return }
    if let error = error as? HTTPParserError {
      if case .idle = state {
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
        let problem =
          error == .headerOverflow
          ? Problem(431, "over \(limits.maximumHeadBytes) bytes before the body, or too many fields")
          : Problem(400, "this is not HTTP/1.1")
        return write(HTTPResponse(problem), to: head, closing: true, context: context)
      }
      // The rest of a refused request.
      if case .leaving = state { return }
    }
    // TLS failures, resets and timeouts: nothing more can be sent on this connection.
    context.close(promise: nil)
  }

  private func answer(_ head: HTTPRequestHead, body: [UInt8], context: ChannelHandlerContext) {
    if let wait = limiter.ask() {
      return write(
        HTTPResponse(Problem(429, "too many requests in a short time", retryAfter: wait)), to: head, closing: true,
        context: context)
    }
    let uri = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let request = HTTPRequest(
      method: head.method, path: String(uri.first ?? "/"), query: uri.count > 1 ? String(uri[1]) : nil,
      headers: head.headers, body: body, remoteAddress: limiter.address,
      localAddress: context.localAddress?.transportAddress)
    if let refusal = webSocket?.refusal(of: request) {
      return write(refusal, to: head, closing: !head.isKeepAlive, context: context)
    }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    responder(request).hop(to: context.eventLoop).whenComplete { result in
      let (handler, context) = bound.value
      switch result {
      case .success(let response):
        if response.isForSomeoneKnown { handler.limiter.prove() }
        handler.write(response, to: head, closing: !head.isKeepAlive, context: context)
      case .failure:
        handler.write(
          HTTPResponse(Problem(500, "the child failed; its log says why")), to: head, closing: true,
          context: context)
      }
    }
  }

  private func refuse(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
    write(
      HTTPResponse(Problem(413, "over \(limits.maximumBodyBytes) bytes")), to: head, closing: true, context: context)
  }

  private func write(
    _ response: HTTPResponse, to request: HTTPRequestHead, closing: Bool, context: ChannelHandlerContext
  ) {
    guard context.channel.isActive else { return }
    var headers = response.headers
    headers.replaceOrAdd(name: "Content-Length", value: String(response.body.count))
    headers.replaceOrAdd(name: "Server", value: "Cradle")
    if closing { headers.replaceOrAdd(name: "Connection", value: "close") }
    context.write(
      wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: response.status, headers: headers))),
      promise: nil)
    if request.method != .HEAD, !response.body.isEmpty {
      context.write(
        wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(bytes: response.body)))), promise: nil)
    }
    // Also limits how long a slow reader may take for the response.
    closeAfter(limits.idleTimeout, context: context)
    // Before the end is written, because that may deliver the next request.
    state = closing ? .leaving : .idle
    let done = context.eventLoop.makePromise(of: Void.self)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: done)
    guard closing else { return }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    done.futureResult.whenComplete { _ in
      let (handler, context) = bound.value
      if response.status.code < 400 {
        context.close(promise: nil)
      } else {
        handler.closeAfter(Self.lingering, context: context)
      }
    }
  }

  private func closeAfter(_ time: TimeAmount, context: ChannelHandlerContext) {
    timer?.cancel()
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { bound.value.close(promise: nil) }
  }
}
