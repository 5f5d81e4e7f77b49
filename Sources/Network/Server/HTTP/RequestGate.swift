internal import NIOCore
internal import NIOHTTP1

/// Lets a client's bytes through to the HTTP decoder while its requests can be handled: not more of them than a request may
/// have, and none while an answer is being made or sent. Until then nothing more is read, and what has come already waits
/// as the bytes that it is, which take a fraction of what parsed requests do.
///
/// Between TLS and the decoder, which limits header fields but buffers request lines of any length; removed from a WebSocket,
/// which has its own limits.
final class RequestGate: ChannelInboundHandler, ChannelOutboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// After each piece of so many bytes it is asked whether more can be handled: a piece has a few dozen requests at most.
  private static let pieceBytes = 512

  private let maximumBytes: Int
  private var bytes = 0
  private var isOver = false
  private var held = ByteBuffer()
  private var isClosed = false
  private var isPassing = false
  private var isReadDue = false
  private var context: ChannelHandlerContext?
  /// A WebSocket has its own limits. From then on until the handler is removed, everything passes.
  var isOff = false

  init(maximumBytes: Int) {
    self.maximumBytes = maximumBytes
  }

  /// A request's head has been parsed; its body is limited where it is collected.
  func beginRequest() {
    bytes = 0
  }

  /// Nothing passes until `open`.
  func close() {
    isClosed = true
  }

  /// Passes on what has waited, and reads again.
  func open() {
    guard isClosed else { return }
    isClosed = false
    if let context { passOn(context) }
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    guard context.channel.isActive else { return }
    if held.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(held)) }
    if isReadDue { context.read() }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isOff else { return context.fireChannelRead(data) }
    var more = unwrapInboundIn(data)
    if held.readableBytes == 0 { held = more } else { held.writeBuffer(&more) }
    passOn(context)
  }

  func read(context: ChannelHandlerContext) {
    if isClosed, !isOff { isReadDue = true } else { context.read() }
  }

  /// Also called while it is passing on: what it passes on opens and closes it.
  private func passOn(_ context: ChannelHandlerContext) {
    guard !isPassing else { return }
    isPassing = true
    while !isClosed || isOff, !isOver, held.readableBytes > 0 {
      let length = isOff ? held.readableBytes : min(held.readableBytes, Self.pieceBytes)
      guard let piece = held.readSlice(length: length) else { break }
      bytes += piece.readableBytes
      if bytes > maximumBytes, !isOff {
        isOver = true
        context.fireErrorCaught(HTTPParserError.headerOverflow)
      } else {
        context.fireChannelRead(wrapInboundOut(piece))
      }
    }
    isPassing = false
    // Releases the memory.
    if held.readableBytes == 0 || isOver { held = ByteBuffer() }
    if isReadDue, !isClosed || isOff {
      isReadDue = false
      context.read()
    }
  }
}
