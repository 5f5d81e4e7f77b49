internal import Glibc
internal import Linux
internal import Synchronization

/// Replaces small files on a thread of its own, so that no caller waits for a memory card that takes half a second for a sync.
/// In the order in which they were given; of several contents of one file that wait, only the newest is written.
public final class FileWriter: Sendable {
  private typealias Completion = @Sendable (FileError?) -> Void

  private struct Job {
    var file: AtomicFile
    var bytes: [UInt8]
    var completions: [Completion]
  }

  private struct State {
    var waiting: [Job] = []
    /// Path and callers of what is being written.
    var current: (path: String, completions: [Completion])?
    /// Of the last write of each file.
    var errors: [String: FileError] = [:]
    var isStopping = false
  }

  private final class Shared: Sendable {
    let state = Mutex(State())
    let wake = EventDescriptor()
    let ended = EventDescriptor()
  }

  private let shared = Shared()

  /// - Parameter report: called on the thread when a file can no longer be written; not again before it could be.
  public init(report: @escaping @Sendable (FileError) -> Void) {
    let shared = shared
    _ = WorkerThread(name: "files") {
      Self.serve(shared, report: report)
      shared.ended.raise()
    }
  }

  deinit {
    shared.state.withLock { $0.isStopping = true }
    shared.wake.raise()
  }

  func write(_ bytes: [UInt8], to file: AtomicFile) {
    shared.state.withLock { state in
      var completions: [Completion] = []
      // Behind what was given meanwhile: it may depend on that.
      if let index = state.waiting.firstIndex(where: { $0.file.path == file.path }) {
        completions = state.waiting.remove(at: index).completions
      }
      state.waiting.append(Job(file: file, bytes: bytes, completions: completions))
    }
    shared.wake.raise()
  }

  /// Calls `completion` with what came of the last content of this file: on the thread, or at once if nothing waits.
  func whenWritten(_ file: AtomicFile, _ completion: @escaping @Sendable (FileError?) -> Void) {
    let known: FileError?? = shared.state.withLock { state in
      if let index = state.waiting.firstIndex(where: { $0.file.path == file.path }) {
        state.waiting[index].completions.append(completion)
        return nil
      }
      if state.current?.path == file.path {
        state.current?.completions.append(completion)
        return nil
      }
      return .some(state.errors[file.path])
    }
    if let known { completion(known) }
  }

  /// Writes what waits, at most as long as `limit`, and ends the thread. Nothing is written afterwards.
  public func stop(within limit: Duration) {
    shared.state.withLock { $0.isStopping = true }
    shared.wake.raise()
    Self.wait(for: shared.ended, milliseconds: Int32(clamping: limit.components.seconds * 1000))
  }

  // MARK: - The thread

  private static func serve(_ shared: Shared, report: @Sendable (FileError) -> Void) {
    while true {
      shared.wake.clear()
      while let job = next(shared) {
        var failure: FileError?
        do throws(FileError) {
          try job.file.write(job.bytes)
        } catch {
          failure = error
        }
        let (completions, isNew) = shared.state.withLock { state in
          let completions = state.current?.completions ?? []
          let isNew = failure != nil && state.errors[job.file.path] == nil
          state.current = nil
          state.errors[job.file.path] = failure
          return (completions, isNew)
        }
        if let failure, isNew { report(failure) }
        for completion in completions { completion(failure) }
      }
      if shared.state.withLock({ $0.isStopping && $0.waiting.isEmpty }) { return }
      wait(for: shared.wake, milliseconds: -1)
    }
  }

  private static func next(_ shared: Shared) -> Job? {
    shared.state.withLock { state in
      guard !state.waiting.isEmpty else { return nil }
      let job = state.waiting.removeFirst()
      state.current = (job.file.path, job.completions)
      return job
    }
  }

  /// - Parameter milliseconds: -1: as long as it takes.
  private static func wait(for event: EventDescriptor, milliseconds: Int32) {
    var descriptor = pollfd(fd: event.descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&descriptor, 1, milliseconds) < 0, errno == EINTR {}
  }
}
