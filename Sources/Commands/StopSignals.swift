internal import CLinux
internal import Glibc
internal import Linux

/// Waits for SIGTERM and SIGINT. A second Ctrl-C ends the program at once. Make one for each process.
public final class StopSignals: Sendable {
  private let stream: AsyncStream<Void>

  /// Lets signals through that whoever started this program had blocked, as threads of libdispatch do for all that they
  /// start. Call on the first thread, before there are others.
  public static func unblock() {
    var none = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, nil)
  }

  public init() {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    self.stream = stream
    // Without a descriptor a signal ends the program, as it would without this type.
    let counter = clinux_catch_stop()
    guard counter >= 0 else { return }
    _ = WorkerThread(name: "signals") {
      var count: UInt64 = 0
      while read(counter, &count, MemoryLayout.size(ofValue: count)) > 0 || errno == EINTR {
        if count > 0 { continuation.yield() }
      }
    }
  }

  /// Waits for the first signal.
  public func first() async {
    for await _ in stream { return }
  }
}
