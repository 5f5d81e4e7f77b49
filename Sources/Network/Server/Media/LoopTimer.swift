internal import CLinux
internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import Wire

/// The media timer: one deadline, which moves with every packet.
protocol MediaTimer: AnyObject {
  /// Fires after `delay`, replacing the previous deadline.
  func set(_ delay: Duration)
  func close()
}

/// An event loop's timer that can be postponed, timerfd_create(2).
///
/// Saves wake-ups: NIO wakes its loop for every deadline ever set, even if its task has been cancelled since, and the
/// deadlines of media move with every packet. `PeerHub.FastPaths` can switch it off.
///
/// `@unchecked Sendable` because it is confined to its event loop.
final class LoopTimer: MediaTimer, ChannelInboundHandler, @unchecked Sendable {
  typealias InboundIn = ByteBuffer

  private let descriptor: Int32
  private let fired: @Sendable () -> Void
  private var channel: (any Channel)?
  /// When it expires; nil once it has fired.
  private var expiry: NIODeadline?

  private init(descriptor: Int32, fired: @escaping @Sendable () -> Void) {
    self.descriptor = descriptor
    self.fired = fired
  }

  /// - Parameter fired: called on the loop, once for each deadline that was not replaced.
  static func open(on loop: any EventLoop, fired: @escaping @Sendable () -> Void) async throws -> LoopTimer {
    let descriptor = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK))
    guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "timerfd_create") }
    let timer = LoopTimer(descriptor: descriptor, fired: fired)
    do {
      _ = try await NIOPipeBootstrap(group: loop)
        .channelOption(.maxMessagesPerRead, value: 1)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(timer) }
        }
        .takingOwnershipOfDescriptor(input: descriptor).get()
      return timer
    } catch {
      Glibc.close(descriptor)
      throw error
    }
  }

  /// A deadline that has already expired still fires first: the loop may have seen it, and must find something to read.
  func set(_ delay: Duration) {
    // A closed channel's descriptor may have been reused.
    guard let channel, channel.isActive else { return }
    channel.eventLoop.preconditionInEventLoop()
    let now = NIODeadline.now()
    if let expiry, expiry <= now { return }
    // Zero would disarm it.
    let nanoseconds = max(1, delay.nanoseconds)
    expiry = now + .nanoseconds(nanoseconds)
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    var time = itimerspec()
    time.it_value = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
    timerfd_settime(descriptor, 0, &time, nil)
  }

  func close() {
    channel?.close(promise: nil)
  }

  // MARK: ChannelInboundHandler

  func handlerAdded(context: ChannelHandlerContext) {
    channel = context.channel
  }

  func channelInactive(context: ChannelHandlerContext) {
    channel = nil
  }

  /// The data is the number of expirations, always one.
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    expiry = nil
    fired()
  }
}
