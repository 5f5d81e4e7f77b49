internal import Dispatch
internal import Glibc

/// SIGTERM and SIGINT, as something to wait for. `@unchecked Sendable` because Dispatch's sources are thread-safe but not
/// marked so on Linux.
public final class StopSignals: @unchecked Sendable {
  private let stream: AsyncStream<Void>
  private let sources: [any DispatchSourceSignal]

  public init() {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    self.stream = stream
    // Not ignored until then, as one does elsewhere: Dispatch takes the signal over some time after `resume` (on Linux it
    // needs no more than that), and one that came in between would be lost. Now it ends the program, which is what it asks.
    sources = [SIGTERM, SIGINT].map { number in
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield() }
      source.resume()
      return source
    }
  }

  /// Waits for the first of them.
  public func first() async {
    for await _ in stream { return }
  }
}
