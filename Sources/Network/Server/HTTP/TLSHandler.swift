internal import NIOCore
internal import NIOTLS
internal import SecureTransport

/// TLS in a channel's pipeline, over a `TLSConnection`: ciphertext before it, plaintext behind it.
///
/// What is written before the handshake is complete waits for it. A failure is fired as `TLSFailure` (or the system's
/// error), then the channel is closed. The peer's goodbye closes the channel, and so does ours: half-closed connections
/// are of no use to HTTP.
final class TLSHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private enum State {
    /// Until the handshake is complete.
    case opening
    case open
    /// Our close_notify has been sent; until the peer's or until the time is over.
    case closing(EventLoopPromise<Void>?, Scheduled<Void>)
    case closed
  }

  /// How long the peer may take to answer our goodbye. Meanwhile what it has sent is read: closing a socket with unread
  /// bytes would reset the connection, and the peer would lose what it has not read yet.
  private static let goodbyeTime: TimeAmount = .seconds(2)

  private let connection: TLSConnection
  private var state: State = .opening
  /// Not encrypted yet; those before the mark have been flushed.
  private var writes = MarkedCircularBuffer<(data: ByteBuffer, promise: EventLoopPromise<Void>?)>(initialCapacity: 1)
  /// Whether events are being passed on: a handler that writes or closes meanwhile must not be called again from there.
  private var isPassingOn = false

  init(_ connection: TLSConnection) {
    self.connection = connection
  }

  // MARK: - Inbound

  func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { start(context) }
  }

  func channelActive(context: ChannelHandlerContext) {
    context.fireChannelActive()
    start(context)
  }

  private func start(_ context: ChannelHandlerContext) {
    connection.start()
    advance(context)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    unwrapInboundIn(data).withUnsafeReadableBytes { connection.receive($0) }
    advance(context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    connection.receiveEnd()
    passOn(context)
    end(context, ChannelError.ioOnClosedChannel)
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    end(context, ChannelError.ioOnClosedChannel)
  }

  // MARK: - Outbound

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch state {
    case .opening, .open: writes.append((unwrapOutboundIn(data), promise))
    case .closing, .closed: promise?.fail(ChannelError.ioOnClosedChannel)
    }
  }

  func flush(context: ChannelHandlerContext) {
    writes.mark()
    encryptWrites(context)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    guard case .all = mode else {
      promise?.fail(ChannelError.operationUnsupported)
      return
    }
    switch state {
    case .opening, .closed:
      end(context, ChannelError.ioOnClosedChannel)
      context.close(promise: promise)
    case .open:
      connection.close()
      failWrites(ChannelError.ioOnClosedChannel)
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      let timer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.goodbyeTime) {
        let (handler, context) = bound.value
        handler.closeChannel(context)
      }
      state = .closing(promise, timer)
      sendCiphertext(context, promise: nil)
    case .closing(let first?, _):
      first.futureResult.cascade(to: promise)
    case .closing(nil, let timer):
      state = .closing(promise, timer)
    }
  }

  // MARK: - The connection

  /// After each call of the connection: what it has to say to the network, then to the pipeline.
  private func advance(_ context: ChannelHandlerContext) {
    sendCiphertext(context, promise: nil)
    passOn(context)
  }

  private func sendCiphertext(_ context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
    let bytes = connection.takeCiphertext()
    // For a promise alone too, so that it is kept after what was sent before.
    guard !bytes.isEmpty || promise != nil else { return }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: promise)
  }

  private func passOn(_ context: ChannelHandlerContext) {
    guard !isPassingOn else { return }
    isPassingOn = true
    defer { isPassingOn = false }
    while let event = connection.poll() {
      switch event {
      case .established(let applicationProtocol):
        guard case .opening = state else { break }
        state = .open
        context.fireUserInboundEventTriggered(
          TLSUserEvent.handshakeCompleted(negotiatedProtocol: applicationProtocol))
        encryptWrites(context)
      case .applicationData(let bytes):
        if case .open = state { context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: bytes))) }
      case .closed:
        closeChannel(context)
      case .failed(let failure):
        context.fireErrorCaught(failure)
        failWrites(failure)
        closeChannel(context)
      }
    }
  }

  /// Encrypts what has been flushed, and sends it in one piece.
  private func encryptWrites(_ context: ChannelHandlerContext) {
    guard case .open = state, writes.hasMark else { return }
    var promises: [EventLoopPromise<Void>] = []
    while writes.hasMark, let (data, promise) = writes.popFirst() {
      data.withUnsafeReadableBytes { connection.send($0) }
      if let promise { promises.append(promise) }
    }
    sendCiphertext(context, promise: Self.together(promises, on: context.eventLoop))
    passOn(context)
  }

  private static func together(
    _ promises: [EventLoopPromise<Void>], on loop: any EventLoop
  ) -> EventLoopPromise<Void>? {
    guard promises.count > 1 else { return promises.first }
    let all = loop.makePromise(of: Void.self)
    all.futureResult.whenComplete { result in for promise in promises { promise.completeWith(result) } }
    return all
  }

  // MARK: - The end

  /// Closes the channel without another word.
  private func closeChannel(_ context: ChannelHandlerContext) {
    var promise: EventLoopPromise<Void>?
    if case .closing(let waiting, let timer) = state {
      timer.cancel()
      promise = waiting
    }
    state = .closed
    failWrites(ChannelError.ioOnClosedChannel)
    guard context.channel.isActive else {
      promise?.succeed(())
      return
    }
    context.close(promise: promise)
  }

  /// The channel has gone, or goes without a goodbye.
  private func end(_ context: ChannelHandlerContext, _ error: any Error) {
    if case .closing(let waiting, let timer) = state {
      timer.cancel()
      waiting?.succeed(())
    }
    state = .closed
    connection.close()
    failWrites(error)
  }

  private func failWrites(_ error: any Error) {
    while let (_, promise) = writes.popFirst() { promise?.fail(error) }
  }
}
