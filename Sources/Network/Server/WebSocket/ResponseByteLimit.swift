internal import NIOCore

/// Bounds what a server sends before it switches protocols: interim responses (RFC 9110 section 15.2) without end would keep a
/// core busy until the attempt's time is over, and NIO reports them to nobody. Removed once the protocol is another.
final class ResponseByteLimit: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// A handshake has some hundred bytes; what comes right after it may arrive in the same read.
  private static let maximum = 256 * 1024

  private var received = 0

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard received <= Self.maximum else { return }
    received += unwrapInboundIn(data).readableBytes
    guard received > Self.maximum else { return context.fireChannelRead(data) }
    context.fireErrorCaught(HTTPClientError.responseTooLarge(Self.maximum))
    context.close(promise: nil)
  }
}
