internal import CLinux
internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import Wire

/// A timer of an event loop that can be put off, timerfd_create(2).
///
/// NIO's own wakes its loop at every time that was ever asked for, put off or not. Deadlines of media move with every
/// packet, and on small machines to wake up costs more than most of what is done then.
///
/// `@unchecked Sendable` because it is confined to its event loop.
final class LoopTimer: @unchecked Sendable {
  private let descriptor: Int32
  private let channel: any Channel

  private init(descriptor: Int32, channel: any Channel) {
    self.descriptor = descriptor
    self.channel = channel
  }

  /// `fired` is called on the loop, once for each time that was set and not replaced.
  static func open(on loop: any EventLoop, fired: @escaping @Sendable () -> Void) async throws -> LoopTimer {
    let descriptor = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK))
    guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "timerfd_create") }
    do {
      let channel = try await NIOPipeBootstrap(group: loop)
        .channelOption(.maxMessagesPerRead, value: 1)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(Expiry(fired: fired))
          }
        }
        .takingOwnershipOfDescriptor(input: descriptor).get()
      return LoopTimer(descriptor: descriptor, channel: channel)
    } catch {
      Glibc.close(descriptor)
      throw error
    }
  }

  /// Fires after `delay`, instead of when it was to fire before.
  func set(_ delay: Duration) {
    channel.eventLoop.preconditionInEventLoop()
    // A closed channel's descriptor may be somebody else's by now.
    guard channel.isActive else { return }
    // Zero would switch it off.
    let (seconds, rest) = max(1, delay.nanoseconds).quotientAndRemainder(dividingBy: 1_000_000_000)
    var time = itimerspec()
    time.it_value = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
    timerfd_settime(descriptor, 0, &time, nil)
  }

  func close() {
    channel.close(promise: nil)
  }
}

/// What is read says how often the timer has expired; it is set for one time only.
private final class Expiry: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let fired: @Sendable () -> Void

  init(fired: @escaping @Sendable () -> Void) {
    self.fired = fired
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    fired()
  }
}
