internal import NIOCore
internal import NIOHTTP1
internal import NIOTLS

/// Writes one request at a time and collects its response. One per TCP connection.
final class HTTPResponseHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  /// Events of the connection; `failed` and `closed` are final.
  enum Event {
    /// Requests may be sent: TCP is connected and the server is trusted.
    case ready
    /// - Parameter isReusable: another request may be sent.
    case response(HTTPResponse, isReusable: Bool)
    /// - Parameter hadBegun: part of a response had arrived.
    case failed(HTTPClientError, hadBegun: Bool)
    /// Closed while no response was expected.
    case closed
  }

  private enum State {
    case handshaking
    case idle
    case waiting
    case collecting(HTTPResponseHead, [UInt8])
    /// Reported once everything read together with it has been parsed: data that a server sends after its response must
    /// not answer the next request.
    case complete(HTTPResponse, isReusable: Bool)
    case ended
  }

  private let maximumBodyBytes: Int
  private let isSecure: Bool
  private let report: (HTTPResponseHandler, Event) -> Void
  private var state: State = .handshaking
  private var context: ChannelHandlerContext?
  /// Of the request that waits.
  private var interimResponses = 0

  /// RFC 9110 section 15.2 sets no limit; a proxy sends one or two (100, 103), and who sends them without end never answers.
  private static let maximumInterimResponses = 16

  /// - Parameter isSecure: TLS comes before the first request.
  init(maximumBodyBytes: Int, isSecure: Bool, report: @escaping (HTTPResponseHandler, Event) -> Void) {
    self.maximumBodyBytes = maximumBodyBytes
    self.isSecure = isSecure
    self.report = report
  }

  var isReady: Bool {
    if case .idle = state { true } else { false }
  }

  /// Whether `failed` or `closed` has been reported.
  var hasEnded: Bool {
    if case .ended = state { true } else { false }
  }

  /// Call it only while `isReady`.
  func send(_ request: HTTPClientRequest) {
    guard let context, isReady else { preconditionFailure("a connection takes one request at a time") }
    state = .waiting
    interimResponses = 0
    context.write(wrapOutboundOut(.head(request.head)), promise: nil)
    if !request.body.isEmpty {
      let body = context.channel.allocator.buffer(bytes: request.body)
      context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
    }
    // An invalid header field is reported only through the promise.
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenFailure { error in
      let (handler, context) = bound.value
      handler.fail(HTTPClientError(open: error), context: context)
    }
  }

  // MARK: - ChannelInboundHandler

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
  }

  func channelActive(context: ChannelHandlerContext) {
    if !isSecure { becomeReady() }
    context.fireChannelActive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent { becomeReady() }
    context.fireUserInboundEventTriggered(event)
  }

  private func becomeReady() {
    guard case .handshaking = state else { return }
    state = .idle
    report(self, .ready)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch (unwrapInboundIn(data), state) {
    case (.head(let head), .waiting) where head.status.isInterim:
      interimResponses += 1
      guard interimResponses <= Self.maximumInterimResponses else {
        return fail(
          .protocolError("it sends more than \(Self.maximumInterimResponses) interim responses (1xx)"), context: context
        )
      }
    case (.head(let head), .waiting):
      state = .collecting(head, [])
    case (.body(let buffer), .collecting(let head, var body)):
      guard body.count + buffer.readableBytes <= maximumBodyBytes else {
        return fail(.responseTooLarge(maximumBodyBytes, status: Int(head.status.code)), context: context)
      }
      // Otherwise the array would be shared, and copied with every piece.
      state = .waiting
      body.append(contentsOf: buffer.readableBytesView)
      state = .collecting(head, body)
    case (.end, .collecting(let head, let body)):
      state = .complete(
        HTTPResponse(status: head.status, headers: head.headers, body: body), isReusable: head.isKeepAlive)
    case (_, .complete(let response, _)):
      state = .complete(response, isReusable: false)
    case (_, .ended):
      break
    case (_, .handshaking), (_, .idle), (_, .waiting), (_, .collecting):
      fail(.protocolError("a response without a request"), context: context)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    handOver(context: context)
    context.fireChannelReadComplete()
  }

  func channelInactive(context: ChannelHandlerContext) {
    handOver(context: context)
    fail(.connectionLost, context: context)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // An error after a response only affects the next one.
    if case .complete(let response, _) = state { state = .complete(response, isReusable: false) }
    handOver(context: context)
    fail(HTTPClientError(open: error), context: context)
  }

  private func handOver(context: ChannelHandlerContext) {
    guard case .complete(let response, let isReusable) = state else { return }
    if isReusable, context.channel.isActive {
      state = .idle
      report(self, .response(response, isReusable: true))
    } else {
      end(context: context)
      report(self, .response(response, isReusable: false))
    }
  }

  private func fail(_ error: HTTPClientError, context: ChannelHandlerContext) {
    let event: Event
    switch state {
    case .collecting: event = .failed(error, hadBegun: true)
    case .handshaking, .waiting: event = .failed(error, hadBegun: false)
    case .idle, .complete: event = .closed
    case .ended: return
    }
    end(context: context)
    report(self, event)
  }

  private func end(context: ChannelHandlerContext) {
    state = .ended
    context.close(promise: nil)
  }
}

extension HTTPResponseStatus {
  /// Another response to the same request follows. RFC 9110 section 15.2; 101 is the end of HTTP.
  fileprivate var isInterim: Bool { (100..<200).contains(code) && code != 101 }
}
