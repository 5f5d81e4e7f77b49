internal import Synchronization
public import Wire

/// A thread's liveness signal, for a watchdog on another thread.
///
/// The thread beats on each iteration, and rests while it waits for something that may never come. A thread that does
/// neither for long is stuck.
public final class Pulse: Sendable {
  /// Nanoseconds of the last beat.
  private let last = Atomic<Int64>(Pulse.resting)
  private static let resting = Int64.max

  /// Resting: its thread has not started.
  public init() {}

  public func beat(at now: Instant = MonotonicClock.now) {
    last.store(now.nanoseconds, ordering: .relaxed)
  }

  /// Silence until the next beat means nothing.
  public func rest() {
    last.store(Self.resting, ordering: .relaxed)
  }

  /// Time since the last beat; zero while the thread rests.
  public func silence(at now: Instant) -> Duration {
    let last = last.load(ordering: .relaxed)
    return last == Self.resting ? .zero : max(.zero, now - Instant(nanoseconds: last))
  }
}
