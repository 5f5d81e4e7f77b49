internal import NIOCore
internal import NIOWebSocket
internal import Signaling

/// Frames in and out: reassembles fragments, answers pings and close frames, detects dead peers. RFC 6455 section 5.
final class WebSocketHandler: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  enum Role {
    case server
    case client
  }

  private enum State {
    case open
    /// Our close frame has been sent, or theirs has been answered.
    case closing(WebSocketClosure)
    case closed
  }

  /// Whether the peer has been asked for a sign of life.
  private enum Verification {
    case none(lastPing: NIODeadline?)
    /// A ping is due; it has to be answered within this time.
    case due(Scheduled<Void>, within: TimeAmount, lastPing: NIODeadline)
    /// Nothing has been received since.
    case asked(Scheduled<Void>, until: NIODeadline, at: NIODeadline)

    func cancel() {
      switch self {
      case .none: break
      case .due(let task, _, _), .asked(let task, _, _): task.cancel()
      }
    }
  }

  private static let pingSpacing: TimeAmount = .seconds(1)

  private let role: Role
  private let limits: WebSocketLimits
  /// Retained while the channel is open.
  var connection: WebSocketConnection?
  private var context: ChannelHandlerContext?
  private var state: State = .open
  /// The fragments received so far of a message.
  private var fragments: (bytes: ByteBuffer, count: Int)?
  private var unansweredPings = 0
  /// Whether anything but answers to our pings has come since the last one was due: then none is needed.
  private var isTalking = false
  private var verification = Verification.none(lastPing: nil)
  private var frames: TokenBucket
  /// A callback, not a task: it takes a fraction of the memory.
  private var nextPing: NIOScheduledCallback?
  private var patience: Scheduled<Void>?

  init(role: Role, limits: WebSocketLimits) {
    self.role = role
    self.limits = limits
    frames = TokenBucket(burst: limits.frameBurst, interval: limits.frameInterval)
  }

  // MARK: - Calls

  func send(_ text: String, taken: (() -> Void)?) {
    guard case .open = state, let context else { return }
    guard context.channel.isWritable else { return close(.tryAgainLater, reason: "messages are read too slowly") }
    let promise = taken.map { taken in
      let promise = context.eventLoop.makePromise(of: Void.self)
      promise.futureResult.assumeIsolated().whenSuccess(taken)
      return promise
    }
    write(.text, ByteBuffer(string: text), context: context, promise: promise)
  }

  func close(_ code: WebSocketCloseCode, reason: String) {
    guard case .open = state, let context else { return }
    var payload = context.channel.allocator.buffer(capacity: 2 + reason.utf8.count)
    payload.writeInteger(UInt16(code.rawValue))
    payload.writeString(Self.shortened(reason))
    write(.connectionClose, payload, context: context)
    beginClosing(.byUs(code), context: context)
  }

  /// One ping is under way at a time, and one a second: whoever makes us ask must not make the peer drown in pings.
  func verify(within limit: TimeAmount) {
    guard case .open = state, let context else { return }
    let now = context.eventLoop.now
    switch verification {
    case .none(let lastPing):
      if let lastPing, now < lastPing + Self.pingSpacing {
        let task = schedule(at: lastPing + Self.pingSpacing, context) { $0.ask(within: limit, context: $1) }
        verification = .due(task, within: limit, lastPing: lastPing)
      } else {
        ask(within: limit, context: context)
      }
    case .due(let task, let earlier, let lastPing):
      guard limit < earlier else { return }
      task.cancel()
      verification = .none(lastPing: lastPing)
      verify(within: limit)
    case .asked(let task, let until, let at):
      // Its answer is one to this as well.
      guard now + limit < until else { return }
      task.cancel()
      expectAnswer(by: now + limit, askedAt: at, context: context)
    }
  }

  private func ask(within limit: TimeAmount, context: ChannelHandlerContext) {
    guard case .open = state else { return }
    let now = context.eventLoop.now
    write(.ping, ByteBuffer(), context: context)
    expectAnswer(by: now + limit, askedAt: now, context: context)
  }

  private func expectAnswer(by deadline: NIODeadline, askedAt: NIODeadline, context: ChannelHandlerContext) {
    let task = schedule(at: deadline, context) { handler, context in
      guard case .open = handler.state else { return }
      handler.state = .closing(.byUs(.goingAway))
      context.close(promise: nil)
    }
    verification = .asked(task, until: deadline, at: askedAt)
  }

  private func schedule(
    at time: NIODeadline, _ context: ChannelHandlerContext,
    _ body: @escaping (WebSocketHandler, ChannelHandlerContext) -> Void
  ) -> Scheduled<Void> {
    let (loop, handler) = (context.eventLoop, self)
    return loop.assumeIsolated().scheduleTask(deadline: time) { body(handler, context) }
  }

  func drop() {
    context?.close(promise: nil)
  }

  /// A control frame has at most 125 bytes, and its text must be valid UTF-8.
  private static func shortened(_ reason: String) -> String {
    var reason = reason.prefix(123)
    while reason.utf8.count > 123 { reason.removeLast() }
    return String(reason)
  }

  // MARK: - ChannelInboundHandler

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    schedulePing(context: context)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    finish()
  }

  func channelInactive(context: ChannelHandlerContext) {
    finish()
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case NIOWebSocketError.invalidFrameLength: close(.messageTooLarge, reason: "")
    case is NIOWebSocketError: close(.protocolError, reason: "")
    default: context.close(promise: nil)
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    guard case .open = state else {
      // After a close frame, everything is ignored except the peer's close frame.
      if case .connectionClose = frame.opcode { context.close(promise: nil) }
      return
    }
    // RFC 6455 section 5.1: clients mask, servers do not. Section 5.2: no extension was negotiated.
    guard (frame.maskKey != nil) == (role == .server), !frame.rsv1, !frame.rsv2, !frame.rsv3 else {
      return close(.protocolError, reason: "")
    }
    // Includes pings: each needs a pong, and a peer that reads none must not make us buffer them without limit.
    guard frames.admit(now: ConnectionLimiter.now) == .admitted, context.channel.isWritable else {
      return close(.policyViolation, reason: "too many frames in a short time")
    }
    unansweredPings = 0
    if case .asked(let task, _, let at) = verification {
      task.cancel()
      verification = .none(lastPing: at)
    }
    if frame.opcode != .pong { isTalking = true }
    switch frame.opcode {
    case .text: receiveText(frame)
    case .continuation: receiveContinuation(frame)
    case .ping: write(.pong, frame.unmaskedData, context: context)
    case .pong: break
    case .connectionClose: receiveClose(frame.unmaskedData, context: context)
    case .binary: close(.unacceptableData, reason: "only text is understood")
    default: close(.protocolError, reason: "")
    }
  }

  private func receiveText(_ frame: WebSocketFrame) {
    guard fragments == nil else { return close(.protocolError, reason: "") }
    if frame.fin { deliver(frame.unmaskedData) } else { fragments = (frame.unmaskedData, 1) }
  }

  private func receiveContinuation(_ frame: WebSocketFrame) {
    guard var (bytes, count) = fragments else { return close(.protocolError, reason: "") }
    // Otherwise the buffer would be shared, and copied with every piece.
    fragments = nil
    var piece = frame.unmaskedData
    guard bytes.readableBytes + piece.readableBytes <= limits.maximumMessageBytes, count < limits.maximumFragments
    else { return close(.messageTooLarge, reason: "over \(limits.maximumMessageBytes) bytes or too many pieces") }
    bytes.writeBuffer(&piece)
    count += 1
    if frame.fin { deliver(bytes) } else { fragments = (bytes, count) }
  }

  private func deliver(_ bytes: ByteBuffer) {
    guard let text = String(validating: bytes.readableBytesView, as: UTF8.self) else {
      return close(.invalidText, reason: "")
    }
    connection?.onText(text)
  }

  private func receiveClose(_ payload: ByteBuffer, context: ChannelHandlerContext) {
    var rest = payload
    let code = rest.readInteger(as: UInt16.self)
    let reason = String(validating: rest.readableBytesView, as: UTF8.self) ?? ""
    // RFC 6455 section 5.5.1: the response repeats the code.
    write(.connectionClose, code.map { ByteBuffer(integer: $0) } ?? ByteBuffer(), context: context)
    beginClosing(.byPeer(code: code.map(Int.init) ?? 1005, reason: reason), context: context)
    context.close(promise: nil)
  }

  // MARK: - Helpers

  private func write(
    _ opcode: WebSocketOpcode, _ payload: ByteBuffer, context: ChannelHandlerContext,
    promise: EventLoopPromise<Void>? = nil
  ) {
    let frame = WebSocketFrame(
      fin: true, opcode: opcode, maskKey: role == .client ? .random() : nil, data: payload)
    context.writeAndFlush(wrapOutboundOut(frame), promise: promise)
  }

  private func beginClosing(_ closure: WebSocketClosure, context: ChannelHandlerContext) {
    state = .closing(closure)
    fragments = nil
    nextPing?.cancel()
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    patience = context.eventLoop.assumeIsolated().scheduleTask(in: limits.closeTimeout) {
      bound.value.close(promise: nil)
    }
  }

  private func schedulePing(context: ChannelHandlerContext) {
    // Fails once the loop has ended, and the channel with it.
    nextPing = try? context.eventLoop.assumeIsolated().scheduleCallback(in: limits.pingInterval, handler: self)
  }

  private func finish() {
    nextPing?.cancel()
    patience?.cancel()
    verification.cancel()
    context = nil
    let closure: WebSocketClosure
    switch state {
    case .open: closure = .lost
    case .closing(let known): closure = known
    case .closed: return
    }
    state = .closed
    let ended = connection
    connection = nil
    ended?.onClose(closure)
  }
}

extension WebSocketHandler: NIOScheduledCallbackHandler {
  /// A ping is due.
  func handleScheduledCallback(eventLoop: some EventLoop) {
    guard case .open = state, let context else { return }
    if isTalking {
      isTalking = false
    } else {
      guard unansweredPings < limits.maximumUnansweredPings else { return context.close(promise: nil) }
      unansweredPings += 1
      write(.ping, ByteBuffer(), context: context)
    }
    schedulePing(context: context)
  }
}
