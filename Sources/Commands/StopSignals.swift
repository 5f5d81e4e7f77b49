internal import CLinux
internal import Frames
internal import Glibc

/// SIGTERM and SIGINT, as something to wait for. A second Ctrl-C ends the program at once. One for each program.
public final class StopSignals: Sendable {
  private let stream: AsyncStream<Void>

  public init() {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    self.stream = stream
    // Until then a signal ends the program, which is what it asks.
    let counter = clinux_catch_stop()
    guard counter >= 0 else { return }
    _ = WorkerThread(name: "signals") {
      var count: UInt64 = 0
      while read(counter, &count, MemoryLayout.size(ofValue: count)) > 0 || errno == EINTR {
        if count > 0 { continuation.yield() }
      }
    }
  }

  /// Waits for the first of them.
  public func first() async {
    for await _ in stream { return }
  }
}
