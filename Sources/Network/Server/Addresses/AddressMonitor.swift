internal import CLinux
internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import PeerConnection
internal import Wire

extension MachineAddress {
  /// What a socket can be reached at.
  ///
  /// - Parameter known: nil where the kernel does not report them.
  static func all(_ known: [LocalAddress]?, _ socket: MediaSocket, includingLoopback: Bool) -> [MachineAddress] {
    let known =
      known
      ?? LocalAddresses.current(includingLoopback: true).map {
        LocalAddress(ip: $0, isRunning: true, isOffered: true)
      }
    let usable = known.filter { (socket.isIPv6 || !$0.ip.isIPv6) && (includingLoopback || !$0.ip.isLoopback) }
    // A viewer on this machine can reach loopback whatever its firewall does: prefer it then.
    return (usable.filter(\.ip.isLoopback) + usable.filter { !$0.ip.isLoopback }).map { address in
      MachineAddress(
        address: TransportAddress(ip: address.ip, port: socket.port), isCarrying: address.isRunning,
        isOffered: address.isOffered)
    }
  }
}

/// One of the machine's own addresses.
struct LocalAddress: Hashable, Sendable {
  let ip: IPAddress
  /// Its interface is switched on and has a carrier.
  let isRunning: Bool
  /// It may be a candidate of a new connection.
  let isOffered: Bool
}

/// Knows the machine's addresses; the kernel reports each that appears or goes: rtnetlink(7).
///
/// `@unchecked Sendable` because it is confined to its event loop.
final class AddressMonitor: ChannelInboundHandler, @unchecked Sendable {
  typealias InboundIn = ByteBuffer

  /// A dump that runs: first the interfaces, then the addresses.
  private enum Dump: Equatable {
    case links(sequence: UInt32)
    case addresses(sequence: UInt32)
  }

  private let loop: any EventLoop
  private let changed: @Sendable () -> Void
  private var descriptor: Int32 = -1
  private(set) var channel: (any Channel)?
  private var table = InterfaceTable()
  private var dump: Dump?
  private var sequence: UInt32 = 0
  private var isClosed = false
  private let first: EventLoopPromise<Void>
  /// As of the last complete answer; nil until there was one.
  private(set) var addresses: [LocalAddress]?

  /// The kernel's messages are shorter; longer ones would be cut off.
  private static let maximumBytes = 1 << 16
  /// After messages were lost, or a dump failed.
  private static let retryDelay: TimeAmount = .milliseconds(50)
  /// How long to wait for the first addresses; the kernel answers within a millisecond.
  private static let patience: TimeAmount = .seconds(1)

  private init(on loop: any EventLoop, changed: @escaping @Sendable () -> Void) {
    self.loop = loop
    self.changed = changed
    first = loop.makePromise()
  }

  /// Returns when the addresses are known. Nil where the system gives no such socket, as in a sandbox without AF_NETLINK.
  ///
  /// - Parameter changed: called on the loop when `addresses` has changed.
  static func open(on loop: any EventLoop, changed: @escaping @Sendable () -> Void) async -> AddressMonitor? {
    let monitor = AddressMonitor(on: loop, changed: changed)
    do {
      try await monitor.connect()
      loop.scheduleTask(in: patience) { monitor.first.fail(ChannelError.connectTimeout(patience)) }
      try await monitor.first.futureResult.get()
      return monitor
    } catch {
      monitor.first.fail(error)
      loop.execute { monitor.close() }
      return nil
    }
  }

  func close() {
    isClosed = true
    channel?.close(promise: nil)
  }

  private func connect() async throws {
    // On the loop, so that both are in the same network namespace.
    let descriptor = try await loop.submit { clinux_open_route_socket(1) }.get()
    guard descriptor >= 0 else { throw IOError(errnoCode: -descriptor, reason: "socket") }
    do {
      _ = try await NIOPipeBootstrap(group: loop)
        .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.maximumBytes))
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            self.descriptor = descriptor
            try channel.pipeline.syncOperations.addHandler(self)
          }
        }
        .takingOwnershipOfDescriptor(input: descriptor).get()
    } catch {
      Glibc.close(descriptor)
      throw error
    }
  }

  // MARK: ChannelInboundHandler

  func channelActive(context: ChannelHandlerContext) {
    channel = context.channel
    refresh()
  }

  /// NIO closes a descriptor that cannot be read: ENOBUFS, messages were lost.
  func channelInactive(context: ChannelHandlerContext) {
    channel = nil
    dump = nil
    guard !isClosed else { return }
    loop.scheduleTask(in: Self.retryDelay) { [weak self] in self?.reopen() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  /// One datagram: a read of this socket never gives parts of two.
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let before = dump
    for change in RouteMessages.changes(in: Array(unwrapInboundIn(data).readableBytesView)) { take(change) }
    guard dump == nil else { return }
    let now = table.local
    let isNew = now != addresses
    addresses = now
    if before != nil { first.succeed() }
    if isNew { changed() }
  }

  private func take(_ change: RouteChange) {
    switch (change, dump) {
    case (.dumpEnded(let ended), .links(let asked)) where ended == asked:
      ask(RTM_GETADDR)
    case (.dumpEnded(let ended), .addresses(let asked)) where ended == asked:
      dump = nil
    case (.dumpFailed(let failed), .links(let asked)) where failed == asked,
      (.dumpFailed(let failed), .addresses(let asked)) where failed == asked:
      // No answer to this one counts any more.
      sequence &+= 1
      dump = .links(sequence: sequence)
      loop.scheduleTask(in: Self.retryDelay) { [weak self] in self?.refresh() }
    default:
      table.apply(change)
    }
  }

  /// Asks for everything. The old state stays in use until all of the new one is known.
  private func refresh() {
    table = InterfaceTable()
    ask(RTM_GETLINK)
  }

  private func ask(_ kind: some BinaryInteger) {
    guard let channel, channel.isActive else { return }
    sequence &+= 1
    dump = Int(kind) == Int(RTM_GETLINK) ? .links(sequence: sequence) : .addresses(sequence: sequence)
    if clinux_request_route_dump(descriptor, UInt16(kind), sequence) < 0 { channel.close(promise: nil) }
  }

  private func reopen() {
    guard !isClosed else { return }
    Task {
      do {
        try await self.connect()
      } catch {
        self.loop.scheduleTask(in: Self.retryDelay) { [weak self] in self?.reopen() }
      }
    }
  }
}
