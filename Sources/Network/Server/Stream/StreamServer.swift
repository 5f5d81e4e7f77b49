public import NIOCore
internal import NIOPosix
public import SecureTransport
public import Wire

/// A TCP port for a protocol of its own. Clients that begin with TLS get it.
public final class StreamServer: Sendable {
  public struct Limits: Sendable {
    /// Of a connection, in the kernel. Linux doubles it.
    public var sendBufferBytes: Int
    /// What a client has left unread, when its channel is no longer writable; and when it is again.
    public var unread: ClosedRange<Int>

    public init(sendBufferBytes: Int, unread: ClosedRange<Int>) {
      self.sendBufferBytes = sendBufferBytes
      self.unread = unread
    }
  }

  /// A client that is refused a place.
  private struct Refused: Error {}

  private let channel: any Channel
  /// The bound address: an IP address, and the port.
  public let host: String
  public let port: Int

  private init(channel: any Channel) {
    self.channel = channel
    host = channel.localAddress?.ipAddress ?? ""
    port = channel.localAddress?.port ?? 0
  }

  /// Binds the port and starts serving.
  ///
  /// - Parameters:
  ///   - tls: a server's, for the next connection.
  ///   - handler: takes what the client sends, in plain text; nil refuses it. Called on the connection's event loop.
  /// - Throws: `IOError` when the address is in use or not ours.
  public static func start(
    host: String, port: Int, limits: Limits, on group: any EventLoopGroup,
    tls: @escaping @Sendable () -> TLSContext,
    handler: @escaping @Sendable (_ client: IPAddress?) -> (any ChannelHandler)?
  ) async throws -> StreamServer {
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelOption(.maxMessagesPerRead, value: 4)
      .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2048))
      .childChannelOption(.socketOption(.so_sndbuf), value: SocketOptionValue(limits.sendBufferBytes))
      .childChannelOption(
        .writeBufferWaterMark, value: .init(low: limits.unread.lowerBound, high: limits.unread.upperBound)
      )
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard let handler = handler(channel.remoteAddress?.transportAddress?.ip) else { throw Refused() }
          try channel.pipeline.syncOperations.addHandlers([TLSDetector(tls), handler])
        }
      }
    return StreamServer(channel: try await HTTPServer.bind(bootstrap, host: host, port: port))
  }

  /// Takes no more clients; those that are there stay.
  public func stop() async {
    try? await channel.close().get()
  }
}
