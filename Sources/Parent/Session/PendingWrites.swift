internal import Synchronization

/// What is written to the disk beside a session, one after the other and off the event loop: the disk may be slow. A program
/// waits for them before it ends.
final class PendingWrites: Sendable {
  private let last = Mutex<Task<Void, Never>?>(nil)

  func add(_ body: @escaping @Sendable () -> Void) {
    last.withLock { last in
      let before = last
      last = Task {
        await before?.value
        body()
      }
    }
  }

  func finish() async {
    await last.withLock { $0 }?.value
  }
}
