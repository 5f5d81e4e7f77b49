import NIOCore
import NIOPosix

/// Between a client and a broker: a network that fails, or a broker that knows no MQTT 5.
final class BrokerProxy: Sendable {
  enum Kind: Sendable {
    case transparent
    /// Answers MQTT 5 as MQTT 3.1.1 wants it (section 3.1.2.2).
    case refusingFive
    /// Closes a connection with MQTT 5.
    case closingFive
  }

  private final class Connections: @unchecked Sendable {
    var open: [any Channel] = []
  }

  let port: UInt16
  private let server: any Channel
  private let connections = Connections()
  private let loop: any EventLoop

  init(to broker: UInt16, _ kind: Kind, on loop: any EventLoop) async throws {
    self.loop = loop
    let connections = connections
    server = try await ServerBootstrap(group: loop).childChannelOption(.autoRead, value: true)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          connections.open.append(channel)
          try channel.pipeline.syncOperations.addHandler(Client(kind, to: broker))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port = UInt16(server.localAddress?.port ?? 0)
  }

  /// All connections end without a goodbye.
  func cut() async throws {
    let connections = connections
    try await loop.submit {
      for channel in connections.open { channel.close(mode: .all, promise: nil) }
      connections.open = []
    }.get()
  }

  /// To all clients, as if the broker had sent it.
  func send(_ bytes: [UInt8]) async throws {
    let connections = connections
    try await loop.submit {
      for channel in connections.open where channel.isActive {
        channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
      }
    }.get()
  }

  func close() async throws {
    try await server.close()
    try await cut()
  }

  /// The client's side.
  private final class Client: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let kind: Kind
    private let broker: UInt16
    private var upstream: EventLoopFuture<any Channel>?

    init(_ kind: Kind, to broker: UInt16) {
      self.kind = kind
      self.broker = broker
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let bytes = unwrapInboundIn(data)
      if upstream == nil, isFive(bytes), kind != .transparent {
        let answer: [UInt8] = kind == .refusingFive ? [0x20, 2, 0, 1] : []
        let channel = context.channel
        return channel.writeAndFlush(ByteBuffer(bytes: answer)).whenComplete { _ in channel.close(promise: nil) }
      }
      let client = context.channel
      let upstream =
        self.upstream
        ?? ClientBootstrap(group: context.eventLoop).channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(Upstream(client))
          }
        }.connect(host: "127.0.0.1", port: Int(broker))
      self.upstream = upstream
      upstream.whenSuccess { $0.writeAndFlush(bytes, promise: nil) }
      upstream.whenFailure { _ in client.close(promise: nil) }
    }

    /// The protocol level of a CONNECT stands after the fixed header and the name.
    private func isFive(_ bytes: ByteBuffer) -> Bool {
      let head = Array(bytes.readableBytesView.prefix(16))
      guard let name = head.indices.first(where: { head[$0...].starts(with: "MQTT".utf8) }) else { return false }
      return head.indices.contains(name + 4) && head[name + 4] == 5
    }

    func channelInactive(context: ChannelHandlerContext) {
      upstream?.whenSuccess { $0.close(promise: nil) }
    }
  }

  private final class Upstream: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    private let client: any Channel

    init(_ client: any Channel) {
      self.client = client
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      client.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
      client.close(promise: nil)
    }
  }
}
