import NIOCore
import NIOPosix

/// An XMPP server that agrees to TLS and then says nothing any more.
final class StallingServer: Sendable {
  let port: UInt16
  /// A client has begun its handshake.
  let stalled = Observed<Void>()
  private let server: any Channel

  init(on loop: any EventLoop) async throws {
    let stalled = stalled
    server = try await ServerBootstrap(group: loop).childChannelInitializer { channel in
      channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Handler(stalled)) }
    }
    .bind(host: "127.0.0.1", port: 0).get()
    port = UInt16(server.localAddress?.port ?? 0)
  }

  func close() async throws {
    try await server.close()
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let features =
      "<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' id='1' "
      + "from='cradle.test' version='1.0'><stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"
      + "</stream:features>"

    private let stalled: Observed<Void>

    init(_ stalled: Observed<Void>) {
      self.stalled = stalled
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let bytes = unwrapInboundIn(data)
      let text = String(buffer: bytes)
      if text.contains("<stream:stream") {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: Self.features)), promise: nil)
      } else if text.contains("<starttls") {
        let answer = "<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
      } else {
        stalled.add(())
      }
    }
  }
}
