internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import NIOTLS
internal import TURN
internal import Wire

/// Over TCP, or TLS over TCP.
///
/// `@unchecked Sendable` because it is confined to its event loop.
final class RelayStreamLink: RelayLink, @unchecked Sendable {
  private let channel: any Channel
  private var isFlushScheduled = false

  /// TCP and TLS together.
  private static let connectTimeout: TimeAmount = .seconds(8)
  /// Bytes that the kernel takes beyond what is on its way, tcp(7), TCP_NOTSENT_LOWAT: a tenth of a second of picture. What
  /// waits longer is better left out.
  private static let unsentInKernel: Int = 1 << 15
  /// The same for what the kernel does not take yet.
  private static let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 1 << 14, high: 1 << 15)

  private init(_ channel: any Channel) {
    self.channel = channel
  }

  /// Succeeds when the connection, with TLS if it has it, is up.
  static func open(
    to server: RelayServer, address: TransportAddress, on eventLoop: any EventLoop, receiver: RelayLinkReceiver
  ) async throws -> RelayStreamLink {
    let ready = eventLoop.makePromise(of: Void.self)
    do {
      let channel = try await ClientBootstrap(group: eventLoop)
        .connectTimeout(connectTimeout)
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .channelOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_NOTSENT_LOWAT)), value: unsentInKernel)
        .channelOption(.writeBufferWaterMark, value: waterMark)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            var isSecured = true
            if case .tls(let tls, let name) = server.security {
              try pipeline.addHandler(tls.makeHandler(to: name))
              isSecured = false
            }
            try pipeline.addHandler(
              RelayStreamReceiver(receiver: receiver, ready: ready, isSecured: isSecured))
          }
        }
        .connect(to: SocketAddress(packedIPAddress: ByteBuffer(bytes: address.ip.bytes), port: Int(address.port)))
        .get()
      let patience = eventLoop.scheduleTask(in: connectTimeout) {
        ready.fail(HTTPClientError.timedOut(.connecting))
      }
      do {
        try await ready.futureResult.get()
        patience.cancel()
      } catch {
        patience.cancel()
        channel.close(promise: nil)
        throw error
      }
      return RelayStreamLink(channel)
    } catch {
      // Nobody waits for it any more.
      ready.fail(error)
      throw TURNFailure.transportLost("\(HTTPClientError(connecting: error))")
    }
  }

  var hasRoom: Bool { channel.isWritable }

  func send(_ bytes: [UInt8]) {
    channel.write(ByteBuffer(bytes: bytes), promise: nil)
    guard !isFlushScheduled else { return }
    isFlushScheduled = true
    // What is sent within this turn leaves together.
    channel.eventLoop.execute { [weak self] in
      self?.isFlushScheduled = false
      self?.channel.flush()
    }
  }

  func close() {
    channel.flush()
    channel.close(promise: nil)
  }
}

/// Passes on what comes, and how it ends.
private final class RelayStreamReceiver: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let receiver: RelayLinkReceiver
  private let ready: EventLoopPromise<Void>
  private let isSecured: Bool
  private var isUp = false
  private var isOver = false

  init(receiver: RelayLinkReceiver, ready: EventLoopPromise<Void>, isSecured: Bool) {
    self.receiver = receiver
    self.ready = ready
    self.isSecured = isSecured
  }

  private func begin() {
    isUp = true
    ready.succeed(())
  }

  private func end(_ error: any Error) {
    guard !isOver else { return }
    isOver = true
    if isUp { receiver.lost("\(HTTPClientError(open: error))") } else { ready.fail(HTTPClientError(open: error)) }
  }

  func channelActive(context: ChannelHandlerContext) {
    if isSecured { begin() }
    context.fireChannelActive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent { begin() }
    context.fireUserInboundEventTriggered(event)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    receiver.received([UInt8](unwrapInboundIn(data).readableBytesView))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    end(error)
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    end(ChannelError.eof)
    context.fireChannelInactive()
  }
}
