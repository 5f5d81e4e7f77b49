internal import NIOCore
internal import NIOHTTP1
internal import NIOWebSocket
internal import Signaling

/// Collects one request at a time, calls the responder and sends the response. One per TCP connection.
///
/// The next request is taken when the client has taken the last response, of which one piece at a time is written: who does
/// not read has neither requests nor more than a piece waiting here. Requests that come together are handled in a loop.
final class HTTPRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private enum State {
    case idle
    case collecting(HTTPRequestHead, [UInt8])
    case answering
    case sending(Unsent)
    /// The body has no end; nothing more is read.
    case streaming(HTTPStream)
    /// The last response has been sent; no more requests are handled.
    case leaving
  }

  /// What is left of a response, whose end has not been written.
  private struct Unsent {
    var body: ArraySlice<UInt8>
    let isLast: Bool
    let isError: Bool
  }

  private enum Waiting {
    case part(HTTPServerRequestPart)
    case error(HTTPParserError)
  }

  /// From the last response until the connection is closed. Data that still arrives is read and discarded, because
  /// closing with unread data would make the client lose the response. RFC 9112 section 9.6.
  private static let lingering: TimeAmount = .milliseconds(300)
  /// One TLS record.
  private static let pieceBytes = 16 * 1024
  /// What the kernel keeps of a stream, which Linux doubles: about a second of sound. What is late by more is not worth sending.
  private static let streamBufferBytes = 8 * 1024

  private let limits: HTTPServer.Limits
  private let webSocket: WebSocketEndpoint?
  private let responder: HTTPResponder
  private let limiter: ConnectionLimiterHandler
  private let gate: RequestGate
  private var state: State = .idle
  /// What the gate had let through when the request before it was complete.
  private var waiting = CircularBuffer<Waiting>(initialCapacity: 0)
  private var isAdvancing = false
  private var timer: Scheduled<Void>?

  init(
    limits: HTTPServer.Limits, webSocket: WebSocketEndpoint?, limiter: ConnectionLimiterHandler, gate: RequestGate,
    responder: @escaping HTTPResponder
  ) {
    self.limits = limits
    self.webSocket = webSocket
    self.limiter = limiter
    self.gate = gate
    self.responder = responder
  }

  // MARK: - ChannelInboundHandler

  func channelActive(context: ChannelHandlerContext) {
    // Includes the TLS handshake and the first request.
    closeAfter(limits.requestTimeout, context: context)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    waiting.removeAll()
    if case .streaming(let stream) = state { stream.connectionEnded() }
    state = .leaving
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    // The connection has become a WebSocket, which has its own timeouts and limits.
    timer?.cancel()
    gate.isOff = true
    // Later: it may be passing on what it has read, just now.
    let bound = NIOLoopBound((context.pipeline, gate), eventLoop: context.eventLoop)
    context.eventLoop.execute {
      let (pipeline, gate) = bound.value
      pipeline.syncOperations.removeHandler(gate, promise: nil)
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = unwrapInboundIn(data)
    if case .head = part { gate.beginRequest() }
    waiting.append(.part(part))
    advance(context)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    advance(context)
    context.fireChannelWritabilityChanged()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A failed upgrade continues as a plain request and gets a response as such.
    if error is NIOWebSocketUpgradeError { return }
    if let error = error as? HTTPParserError {
      waiting.append(.error(error))
      return advance(context)
    }
    // TLS failures, resets and timeouts: nothing more can be sent on this connection.
    context.close(promise: nil)
  }

  // MARK: - One step after the other

  /// Takes what waits, in order, as far as it can be taken now. What it does leads back here at times; the outermost call
  /// goes on then, however much waits.
  private func advance(_ context: ChannelHandlerContext) {
    guard !isAdvancing else { return }
    isAdvancing = true
    while step(context) {}
    isAdvancing = false
    switch state {
    case .idle, .collecting, .leaving: gate.open()
    case .answering, .sending, .streaming: gate.close()
    }
  }

  /// False when there is nothing to do now.
  private func step(_ context: ChannelHandlerContext) -> Bool {
    switch state {
    case .answering: return false
    case .sending(let unsent):
      guard context.channel.isWritable else { return false }
      send(unsent, context: context)
    case .streaming(let stream):
      stream.flush()
      return false
    case .idle, .collecting, .leaving:
      guard let next = waiting.popFirst() else { return false }
      switch next {
      case .part(let part): take(part, context: context)
      case .error(let error): refuse(error, context: context)
      }
    }
    return true
  }

  private func take(_ part: HTTPServerRequestPart, context: ChannelHandlerContext) {
    switch part {
    case .head(let head):
      guard case .idle = state else { return }
      closeAfter(limits.requestTimeout, context: context)
      state = .collecting(head, [])
      let announced = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
      if announced > limits.maximumBodyBytes { return refuseBody(of: head, context: context) }
      // RFC 9110 section 10.1.1: the client waits for one of the two; of HTTP/1.0 it does not understand it.
      if head.version == .http1_1, head.headers[canonicalForm: "expect"].contains(where: Self.isContinue) {
        context.writeAndFlush(
          wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
      }
    case .body(let buffer):
      guard case .collecting(let head, var body) = state else { return }
      state = .idle
      guard body.count + buffer.readableBytes <= limits.maximumBodyBytes else {
        return refuseBody(of: head, context: context)
      }
      body.append(contentsOf: buffer.readableBytesView)
      state = .collecting(head, body)
    case .end:
      guard case .collecting(let head, let body) = state else { return }
      state = .answering
      gate.close()
      timer?.cancel()
      answer(head, body: body, context: context)
    }
  }

  private static func isContinue(_ expectation: Substring) -> Bool { expectation.lowercased() == "100-continue" }

  private func refuse(_ error: HTTPParserError, context: ChannelHandlerContext) {
    switch state {
    case .idle:
      let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
      let problem =
        error == .headerOverflow
        ? Problem(431, "over \(limits.maximumHeadBytes) bytes before the body, or too many fields")
        : Problem(400, "this is not HTTP/1.1")
      respond(HTTPResponse(problem), to: head, isLast: true, context: context)
    // The rest of a refused request.
    case .leaving: break
    case .collecting, .answering, .sending, .streaming: context.close(promise: nil)
    }
  }

  private func refuseBody(of head: HTTPRequestHead, context: ChannelHandlerContext) {
    respond(
      HTTPResponse(Problem(413, "over \(limits.maximumBodyBytes) bytes")), to: head, isLast: true, context: context)
  }

  private func answer(_ head: HTTPRequestHead, body: [UInt8], context: ChannelHandlerContext) {
    limiter.noteRequest(head.headers)
    if let wait = limiter.ask() {
      return respond(
        HTTPResponse(Problem(429, "too many requests in a short time", retryAfter: wait)), to: head, isLast: true,
        context: context)
    }
    let uri = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let request = HTTPRequest(
      method: head.method, path: String(uri.first ?? "/"), query: uri.count > 1 ? String(uri[1]) : nil,
      headers: head.headers, body: body, remoteAddress: limiter.address,
      localAddress: context.localAddress?.transportAddress, isRelayed: limiter.isRelayed)
    if let refusal = webSocket?.refusal(of: request) {
      return respond(refusal, to: head, isLast: !head.isKeepAlive, context: context)
    }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    responder(request).hop(to: context.eventLoop).whenComplete { result in
      let (handler, context) = bound.value
      switch result {
      case .success(let response):
        if let standing = response.standing { handler.limiter.raise(to: standing) }
        handler.respond(response, to: head, isLast: !head.isKeepAlive, context: context)
      case .failure:
        handler.respond(
          HTTPResponse(Problem(500, "the child failed; its log says why")), to: head, isLast: true, context: context)
      }
    }
  }

  // MARK: - Sending

  private func respond(
    _ response: HTTPResponse, to request: HTTPRequestHead, isLast: Bool, context: ChannelHandlerContext
  ) {
    if let stream = response.stream { return send(stream, response, to: request, context: context) }
    guard context.channel.isActive else { return }
    var headers = response.headers
    headers.replaceOrAdd(name: "Content-Length", value: String(response.body.count))
    headers.replaceOrAdd(name: "Server", value: "Cradle")
    if isLast { headers.replaceOrAdd(name: "Connection", value: "close") }
    // The limiter ends it when the client takes too long for it.
    timer?.cancel()
    state = .sending(
      Unsent(
        body: request.method == .HEAD ? [] : response.body[...], isLast: isLast, isError: response.status.code >= 400))
    gate.close()
    context.write(
      wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: response.status, headers: headers))),
      promise: nil)
    advance(context)
  }

  /// Writes the next piece.
  private func send(_ unsent: Unsent, context: ChannelHandlerContext) {
    let piece = unsent.body.prefix(Self.pieceBytes)
    var rest = unsent
    rest.body = unsent.body.dropFirst(Self.pieceBytes)
    if !piece.isEmpty {
      context.write(wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(bytes: piece)))), promise: nil)
    }
    guard rest.body.isEmpty else {
      state = .sending(rest)
      return context.flush()
    }
    let done = context.eventLoop.makePromise(of: Void.self)
    state = .answering
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: done)
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    done.futureResult.whenComplete { _ in
      let (handler, context) = bound.value
      handler.end(unsent, context: context)
    }
  }

  /// Sends the head of a response without an end, and what its stream has from then on. It is chunked (RFC 9112 section 7.1),
  /// for clients of HTTP/1.0 as it is.
  private func send(
    _ stream: HTTPStream, _ response: HTTPResponse, to request: HTTPRequestHead, context: ChannelHandlerContext
  ) {
    guard context.channel.isActive else { return stream.connectionEnded() }
    timer?.cancel()
    var headers = response.headers
    headers.replaceOrAdd(name: "Server", value: "Cradle")
    headers.replaceOrAdd(name: "Connection", value: "close")
    let version: HTTPVersion = request.version == .http1_0 ? .http1_0 : .http1_1
    context.writeAndFlush(
      wrapOutboundOut(.head(HTTPResponseHead(version: version, status: response.status, headers: headers))),
      promise: nil)
    gate.close()
    guard request.method != .HEAD else {
      stream.connectionEnded()
      state = .leaving
      return context.close(promise: nil)
    }
    _ = context.channel.setOption(.socketOption(.so_sndbuf), value: SocketOptionValue(Self.streamBufferBytes))
    state = .streaming(stream)
    stream.connect(
      HTTPStream.Connection(
        isReady: { context.channel.isWritable },
        write: { [self] bytes in
          let body = context.channel.allocator.buffer(bytes: bytes)
          context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        },
        close: { context.close(promise: nil) }))
  }

  /// The kernel has the whole response.
  private func end(_ response: Unsent, context: ChannelHandlerContext) {
    guard response.isLast else {
      state = .idle
      closeAfter(limits.idleTimeout, context: context)
      return advance(context)
    }
    state = .leaving
    if response.isError { closeAfter(Self.lingering, context: context) } else { context.close(promise: nil) }
    advance(context)
  }

  private func closeAfter(_ time: TimeAmount, context: ChannelHandlerContext) {
    timer?.cancel()
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { bound.value.close(promise: nil) }
  }
}
