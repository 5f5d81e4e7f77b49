import Frames

/// The program's first thread, for windows: some desktops want them there. Commands run on others.
enum MainThread {
  private static let work = Mailbox<@Sendable () -> Void>(capacity: 8)

  /// Does what it is given, one after the other, for as long as the program runs. Call it once, on that thread.
  static func serve() -> Never {
    while true {
      if let body = work.take() { body() }
    }
  }

  /// Returns when the first thread has run `body`.
  static func run(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      work.put {
        body()
        continuation.resume()
      }
    }
  }
}
