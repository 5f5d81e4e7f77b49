internal import CLinux
internal import Glibc
internal import Linux

/// Waits for SIGTERM, SIGINT and SIGHUP. A second Ctrl-C ends the program at once. Make one for each process.
public final class StopSignals: Sendable {
  public enum Signal: Sendable {
    /// SIGTERM or SIGINT.
    case stop
    /// SIGHUP: a terminal was closed, or somebody asks a daemon to read its configuration again.
    case hangup
  }

  private let stream: AsyncStream<Signal>

  /// Lets signals through that whoever started this program had blocked, as threads of libdispatch do for all that they
  /// start. Call on the first thread, before there are others.
  public static func unblock() {
    var none = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, nil)
  }

  public init() {
    let (stream, continuation) = AsyncStream.makeStream(of: Signal.self)
    self.stream = stream
    // Without a descriptor a signal ends the program, as it would without this type.
    let counter = clinux_catch_stop()
    guard counter >= 0 else { return }
    _ = WorkerThread(name: "signals") {
      var count: UInt64 = 0
      while read(counter, &count, MemoryLayout.size(ofValue: count)) > 0 || errno == EINTR {
        if count % CLINUX_HANGUP > 0 { continuation.yield(.stop) } else if count > 0 { continuation.yield(.hangup) }
      }
    }
  }

  /// Waits for a signal. `stop` when the task is cancelled.
  @discardableResult
  public func first() async -> Signal {
    for await signal in stream { return signal }
    return .stop
  }
}
