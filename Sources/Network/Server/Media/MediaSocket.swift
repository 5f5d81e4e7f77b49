internal import CLinux
internal import Glibc
public import NIOCore
internal import NIOPosix
public import Wire

/// The single UDP socket for all peers' media. Dual-stack if the machine has IPv6.
///
/// NIO reads from it; `send` writes to it directly, because NIO closes a UDP channel when one write fails.
public final class MediaSocket: Sendable {
  let channel: any Channel
  private let descriptor: Int32
  let isIPv6: Bool
  /// The bound port.
  public let port: UInt16

  private init(channel: any Channel, descriptor: Int32, isIPv6: Bool, port: UInt16) {
    self.channel = channel
    self.descriptor = descriptor
    self.isIPv6 = isIPv6
    self.port = port
  }

  /// Whether to accept a datagram, by its first byte and source address. Called before anything is copied, so that a
  /// flood of unwanted datagrams costs little.
  public typealias Filter = @Sendable (_ first: UInt8, _ from: TransportAddress) -> Bool

  /// Binds the first free port of the range; if the range begins with 0, the system chooses.
  ///
  /// - Throws: the last bind error, when no port of the range is free.
  public static func bind(
    ports: ClosedRange<UInt16>, marking: MediaMarking = .none, on group: any EventLoopGroup, isWanted: @escaping Filter,
    receive: @escaping @Sendable (_ datagram: [UInt8], _ from: TransportAddress, _ to: TransportAddress) -> Void,
    receivedAll: @escaping @Sendable () -> Void
  ) async throws -> MediaSocket {
    var lastError: any Error = IOError(errnoCode: EADDRINUSE, reason: "no free UDP port")
    for port in ports.lowerBound == 0 ? 0...0 : ports {
      for isIPv6 in [true, false] {
        do {
          let descriptor = try boundSocket(isIPv6: isIPv6, port: port)
          marking.apply(to: descriptor, isIPv6: isIPv6)
          return try await open(descriptor, isIPv6: isIPv6, group, isWanted, receive, receivedAll)
        } catch {
          lastError = error
        }
      }
    }
    throw lastError
  }

  /// A UDP socket bound to all addresses: socket(2), ipv6(7).
  private static func boundSocket(isIPv6: Bool, port: UInt16) throws -> Int32 {
    let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = Glibc.socket(isIPv6 ? AF_INET6 : AF_INET, kind, 0)
    guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
    do {
      if isIPv6 {
        var off: Int32 = 0
        setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &off, socklen_t(MemoryLayout<Int32>.size))
      }
      let address = try SocketAddress(ipAddress: isIPv6 ? "::" : "0.0.0.0", port: Int(port))
      let status = address.withSockAddr { Glibc.bind(descriptor, $0, socklen_t($1)) }
      guard status == 0 else { throw IOError(errnoCode: errno, reason: "bind") }
      return descriptor
    } catch {
      Glibc.close(descriptor)
      throw error
    }
  }

  /// Passes a bound socket to NIO, which owns it from then on.
  private static func open(
    _ descriptor: Int32, isIPv6: Bool, _ group: any EventLoopGroup, _ isWanted: @escaping Filter,
    _ receive: @escaping @Sendable ([UInt8], TransportAddress, TransportAddress) -> Void,
    _ receivedAll: @escaping @Sendable () -> Void
  ) async throws -> MediaSocket {
    var bootstrap = DatagramBootstrap(group: group)
    if System.supportsUDPReceiveOffload {
      // Reads datagrams that arrived in one batch together, udp(7), UDP_GRO.
      bootstrap = bootstrap.channelOption(.datagramReceiveOffload, value: true)
        .channelOption(.datagramReceiveSegmentSize, value: true)
    }
    let channel =
      try await bootstrap
      .channelOption(.receivePacketInfo, value: true)
      // Datagrams per wake-up, read one by one: usually there is one datagram or one batch, for which recvmmsg(2) costs
      // more than it saves.
      .channelOption(.maxMessagesPerRead, value: 16)
      // A batch is up to 64 KiB; only the memory it fills is touched.
      .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 65_536))
      // A key frame for several viewers is a burst of 300 KB.
      .channelOption(.socketOption(.so_sndbuf), value: 1 << 20)
      .channelOption(.socketOption(.so_rcvbuf), value: 1 << 19)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let port = UInt16(truncatingIfNeeded: channel.localAddress?.port ?? 0)
          try channel.pipeline.syncOperations.addHandler(
            DatagramReceiver(port: port, isWanted: isWanted, receive: receive, receivedAll: receivedAll))
        }
      }
      .withBoundSocket(descriptor).get()
    return MediaSocket(
      channel: channel, descriptor: descriptor, isIPv6: isIPv6,
      port: UInt16(truncatingIfNeeded: channel.localAddress?.port ?? 0))
  }

  func close() async {
    try? await channel.close().get()
  }
}

extension MediaSocket: DatagramSocket {
  /// Call it only on the event loop. Writes to a closed socket are refused.
  func send(_ bytes: ArraySlice<UInt8>, to destination: SocketAddress, segmentSize: Int) -> DatagramWriteResult {
    channel.eventLoop.assertInEventLoop()
    // A closed channel's descriptor may have been reused.
    guard channel.isActive else { return .refused(errno: EBADF) }
    let status = bytes.withUnsafeBytes { buffer in
      destination.withSockAddr { address, size in
        clinux_send_datagrams(
          descriptor, buffer.baseAddress, buffer.count, UInt16(clamping: segmentSize), address, socklen_t(size))
      }
    }
    return switch -status {
    case 0: .written
    case EAGAIN: .bufferFull
    case let errno: .refused(errno: errno)
    }
  }
}

/// Converts NIO's envelopes to plain bytes and typed addresses.
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
    // All datagrams of a batch have this size; the last may be shorter.
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
    // ICMP errors (a viewer's port is closed) arrive here. Consent (RFC 7675), not they, decides when a peer is gone.
  }
}
