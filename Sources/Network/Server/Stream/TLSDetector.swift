internal import NIOCore
internal import SecureTransport

/// Puts TLS into a connection that begins with it: with a record of type 22 (RFC 8446 section 5.1), which no text does.
final class TLSDetector: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private static let handshake: UInt8 = 22

  private let tls: @Sendable () -> TLSContext

  init(_ tls: @escaping @Sendable () -> TLSContext) {
    self.tls = tls
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard let first = unwrapInboundIn(data).readableBytesView.first else { return }
    if first == Self.handshake {
      do {
        try context.pipeline.syncOperations.addHandler(
          TLSHandler(TLSConnection(server: tls())), position: .after(self))
      } catch {
        return context.close(promise: nil)
      }
    }
    context.fireChannelRead(data)
    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
  }
}
