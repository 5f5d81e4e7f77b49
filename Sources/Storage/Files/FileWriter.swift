internal import Glibc
internal import Linux
internal import Synchronization

/// Replaces small files on a thread of its own, so that no caller waits for a memory card that takes half a second for a sync.
/// In the order in which they were given; of several contents of one file that wait, only the newest is written. What cannot
/// be written is tried again every ten seconds, and once more at the end: the newest content is what its owner goes by.
public final class FileWriter: Sendable {
  private typealias Completion = @Sendable (FileError?) -> Void

  private struct Job {
    var file: AtomicFile
    var bytes: [UInt8]
    /// Somebody's access: see `AtomicFile.replace`.
    var removes: Bool
    var completions: [Completion]
  }

  private struct State {
    var waiting: [Job] = []
    /// Path and callers of what is being written.
    var current: (path: String, completions: [Completion])?
    /// The newest content of files that could not be written.
    var failed: [Job] = []
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

  /// - Parameters:
  ///   - retryMilliseconds: when what could not be written is tried again.
  ///   - recovered: called on the thread with the path of a file that can be written again.
  ///   - report: called on the thread when a file can no longer be written; not again before it could be.
  public init(
    retryMilliseconds: Int32 = 10_000, recovered: @escaping @Sendable (String) -> Void = { _ in },
    report: @escaping @Sendable (FileError) -> Void
  ) {
    let shared = shared
    _ = WorkerThread(name: "files") {
      Self.serve(shared, retryMilliseconds: retryMilliseconds, recovered: recovered, report: report)
      shared.ended.raise()
    }
  }

  deinit {
    shared.state.withLock { $0.isStopping = true }
    shared.wake.raise()
  }

  func write(_ bytes: [UInt8], to file: AtomicFile, removes: Bool = false) {
    shared.state.withLock { state in
      var completions: [Completion] = []
      var removes = removes
      if let index = state.failed.firstIndex(where: { $0.file.path == file.path }) {
        removes = state.failed.remove(at: index).removes || removes
      }
      // Behind what was given meanwhile: it may depend on that.
      if let index = state.waiting.firstIndex(where: { $0.file.path == file.path }) {
        let older = state.waiting.remove(at: index)
        completions = older.completions
        removes = older.removes || removes
      }
      state.waiting.append(Job(file: file, bytes: bytes, removes: removes, completions: completions))
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

  private static func serve(
    _ shared: Shared, retryMilliseconds: Int32, recovered: @Sendable (String) -> Void,
    report: @Sendable (FileError) -> Void
  ) {
    var isLastTry = false
    while true {
      shared.wake.clear()
      while let job = next(shared) {
        var failure: FileError?
        do throws(FileError) {
          try job.file.write(job.bytes, removes: job.removes)
          // Used on a full disk, it is there again as soon as there is room.
          SpaceReserve(directory: AtomicFile.split(job.file.path).directory).make()
        } catch {
          failure = error
        }
        let (completions, before) = shared.state.withLock { state in
          let completions = state.current?.completions ?? []
          let before = state.errors[job.file.path]
          state.current = nil
          state.errors[job.file.path] = failure
          if failure != nil { keep(job, in: &state) }
          return (completions, before)
        }
        switch (before, failure) {
        case (nil, let failure?): report(failure)
        case (.some, nil): recovered(job.file.path)
        default: break
        }
        for completion in completions { completion(failure) }
      }
      let (isStopping, hasFailed) = shared.state.withLock { ($0.isStopping, !$0.failed.isEmpty) }
      if isStopping {
        guard hasFailed, !isLastTry else { return }
        isLastTry = true
      } else {
        wait(for: shared.wake, milliseconds: hasFailed ? retryMilliseconds : -1)
      }
      shared.state.withLock { state in
        state.waiting = state.failed + state.waiting
        state.failed = []
      }
    }
  }

  /// To try it again, unless a newer content waits.
  private static func keep(_ job: Job, in state: inout State) {
    if let newer = state.waiting.firstIndex(where: { $0.file.path == job.file.path }) {
      state.waiting[newer].removes = state.waiting[newer].removes || job.removes
    } else {
      state.failed.append(Job(file: job.file, bytes: job.bytes, removes: job.removes, completions: []))
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
