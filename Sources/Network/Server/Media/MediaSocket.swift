public import NIOCore
internal import NIOPosix
public import Wire

/// The one UDP socket over which all peers' media goes. Dual-stack where the machine has IPv6.
public final class MediaSocket: Sendable {
  let channel: any Channel
  let isIPv6: Bool
  /// The bound port.
  public let port: UInt16

  private init(channel: any Channel, isIPv6: Bool, port: UInt16) {
    self.channel = channel
    self.isIPv6 = isIPv6
    self.port = port
  }

  /// Whether a datagram is worth a closer look, by its first byte and where it comes from. Asked before anything is copied,
  /// so that a flood of what nobody waits for costs little.
  public typealias Filter = @Sendable (_ first: UInt8, _ from: TransportAddress) -> Bool

  /// Binds the first free port of the range; a range that begins with 0 lets the system choose.
  ///
  /// - Throws: the last bind error, when no port of the range is free.
  public static func bind(
    ports: ClosedRange<UInt16>, on group: any EventLoopGroup, isWanted: @escaping Filter,
    receive: @escaping @Sendable (_ datagram: [UInt8], _ from: TransportAddress, _ to: TransportAddress) -> Void,
    receivedAll: @escaping @Sendable () -> Void
  ) async throws -> MediaSocket {
    var lastError: any Error = IOError(errnoCode: 98, reason: "no free UDP port")
    for port in ports.lowerBound == 0 ? 0...0 : ports {
      for host in ["::", "0.0.0.0"] {
        do {
          return try await bind(host: host, port: Int(port), group, isWanted, receive, receivedAll)
        } catch {
          lastError = error
        }
      }
    }
    throw lastError
  }

  private static func bind(
    host: String, port: Int, _ group: any EventLoopGroup, _ isWanted: @escaping Filter,
    _ receive: @escaping @Sendable ([UInt8], TransportAddress, TransportAddress) -> Void,
    _ receivedAll: @escaping @Sendable () -> Void
  ) async throws -> MediaSocket {
    var bootstrap = DatagramBootstrap(group: group)
    if System.supportsUDPReceiveOffload {
      // What came in one batch is read as one, udp(7), UDP_GRO.
      bootstrap = bootstrap.channelOption(.datagramReceiveOffload, value: true)
        .channelOption(.datagramReceiveSegmentSize, value: true)
    }
    let channel =
      try await bootstrap
      .channelOption(.receivePacketInfo, value: true)
      // A wake-up takes what has come. One by one: most often it is one datagram or one batch, for which recvmmsg(2) costs
      // more than it saves.
      .channelOption(.maxMessagesPerRead, value: 16)
      // A batch is up to 64 KiB; memory is touched only as far as it reaches.
      .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 65_536))
      // A key frame for several viewers is 300 KB at once.
      .channelOption(.socketOption(.so_sndbuf), value: 1 << 20)
      .channelOption(.socketOption(.so_rcvbuf), value: 1 << 19)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let port = UInt16(truncatingIfNeeded: channel.localAddress?.port ?? 0)
          try channel.pipeline.syncOperations.addHandler(
            DatagramReceiver(port: port, isWanted: isWanted, receive: receive, receivedAll: receivedAll))
        }
      }
      .bind(to: SocketAddress(ipAddress: host, port: port)).get()
    return MediaSocket(
      channel: channel, isIPv6: host == "::", port: UInt16(truncatingIfNeeded: channel.localAddress?.port ?? 0))
  }

  func close() async {
    try? await channel.close().get()
  }
}

/// Turns NIO's envelopes into plain bytes and typed addresses.
private final class DatagramReceiver: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>

  private var port: UInt16
  private let isWanted: MediaSocket.Filter
  private let receive: @Sendable ([UInt8], TransportAddress, TransportAddress) -> Void
  private let receivedAll: @Sendable () -> Void

  init(
    port: UInt16, isWanted: @escaping MediaSocket.Filter,
    receive: @escaping @Sendable ([UInt8], TransportAddress, TransportAddress) -> Void,
    receivedAll: @escaping @Sendable () -> Void
  ) {
    self.port = port
    self.isWanted = isWanted
    self.receive = receive
    self.receivedAll = receivedAll
  }

  func channelActive(context: ChannelHandlerContext) {
    port = UInt16(truncatingIfNeeded: context.localAddress?.port ?? 0)
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let envelope = unwrapInboundIn(data)
    guard let remote = envelope.remoteAddress.transportAddress else { return }
    let destination = envelope.metadata?.packetInfo?.destinationAddress.transportAddress
    let unknown: IPAddress = remote.ip.isIPv6 ? .v6(0, 0) : .v4(0)
    let local = TransportAddress(ip: destination?.ip ?? unknown, port: port)
    var rest = envelope.data
    // All of a batch have this size, but for a shorter last one.
    let size = envelope.metadata?.segmentSize ?? rest.readableBytes
    while let first = rest.getInteger(at: rest.readerIndex, as: UInt8.self) {
      guard let datagram = rest.readSlice(length: min(max(1, size), rest.readableBytes)) else { return }
      if isWanted(first, remote) { receive([UInt8](datagram.readableBytesView), remote, local) }
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    receivedAll()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // ICMP errors (a viewer's port is gone) come up here; consent decides when a peer is dead, not they.
  }
}
