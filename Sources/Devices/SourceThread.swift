internal import Linux
internal import Synchronization

/// The thread of a source: started once, stopped any number of times.
final class SourceThread: Sendable {
  let stopSignal = StopSignal()
  private let state = Mutex<State>(.idle)

  private enum State: Sendable {
    case idle
    case running(WorkerThread)
    case stopped
  }

  func start(name: String, _ body: @escaping @Sendable (StopSignal) -> Void) {
    state.withLock { state in
      guard case .idle = state else { return }
      state = .running(WorkerThread(name: name) { [stopSignal] in body(stopSignal) })
    }
  }

  /// The same with a body that may fail; `failed` then comes last.
  func start(
    name: String, failed: @escaping @Sendable (DeviceError) -> Void,
    _ body: @escaping @Sendable (StopSignal) throws(DeviceError) -> Void
  ) {
    start(name: name) { stop in
      do throws(DeviceError) { try body(stop) } catch { failed(error) }
    }
  }

  /// Raises the signal and joins. A concurrent second call waits for the first.
  func stop() {
    stopSignal.raise()
    state.withLock { state in
      if case .running(let thread) = state { thread.join() }
      state = .stopped
    }
  }
}
