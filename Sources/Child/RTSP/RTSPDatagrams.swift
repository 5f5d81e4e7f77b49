internal import NIOCore
internal import NIOPosix

/// The two UDP ports, for RTP and RTCP, from which players that want datagrams get them. RFC 3550 section 11.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class RTSPDatagrams: @unchecked Sendable {
  /// What players send: reports, and now and then something to open a way through their router.
  private final class Reader: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let received: (SocketAddress) -> Void

    init(_ received: @escaping (SocketAddress) -> Void) {
      self.received = received
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      received(unwrapInboundIn(data).remoteAddress)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
  }

  private static let attempts = 16
  /// Two key frames of each player that there may be.
  private static let waiting = 4 * 1024 * 1024

  private let media: any Channel
  private let reports: any Channel
  let ports: (rtp: UInt16, rtcp: UInt16)

  private init(media: any Channel, reports: any Channel, ports: (rtp: UInt16, rtcp: UInt16)) {
    self.media = media
    self.reports = reports
    self.ports = ports
  }

  /// Opens an even port and the next one.
  ///
  /// - Parameters:
  ///   - host: an IP address of this machine, or the one that stands for all.
  ///   - received: something came from this address.
  /// - Throws: what the system throws.
  static func open(
    host: String, on loop: any EventLoop, received: @escaping @Sendable (SocketAddress) -> Void
  ) async throws -> RTSPDatagrams {
    var last: (any Error)?
    for _ in 0..<attempts {
      let first = try await bind(host, 0, on: loop, received)
      let port = first.localAddress?.port ?? 0
      let isEven = port % 2 == 0
      do {
        let second = try await bind(host, isEven ? port + 1 : port - 1, on: loop, received)
        let (media, reports) = isEven ? (first, second) : (second, first)
        let rtp = UInt16(clamping: isEven ? port : port - 1)
        return RTSPDatagrams(media: media, reports: reports, ports: (rtp, rtp + 1))
      } catch {
        last = error
        try? await first.close().get()
      }
    }
    throw last ?? ChannelError.ioOnClosedChannel
  }

  private static func bind(
    _ host: String, _ port: Int, on loop: any EventLoop, _ received: @escaping @Sendable (SocketAddress) -> Void
  ) async throws -> any Channel {
    let bootstrap = DatagramBootstrap(group: loop)
      .channelOption(.writeBufferWaterMark, value: .init(low: waiting / 2, high: waiting))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Reader(received)) }
      }
    return try await bootstrap.bind(to: SocketAddress(ipAddress: host, port: port)).get()
  }

  /// Sends one after the other; what the kernel has no room for is lost, as on the way.
  func send(_ packets: [[UInt8]], to address: SocketAddress, areReports: Bool = false) {
    let channel = areReports ? reports : media
    guard channel.isWritable else { return }
    for packet in packets {
      let envelope = AddressedEnvelope(remoteAddress: address, data: channel.allocator.buffer(bytes: packet))
      channel.write(envelope, promise: nil)
    }
    channel.flush()
  }

  func close() async {
    try? await media.close().get()
    try? await reports.close().get()
  }
}
