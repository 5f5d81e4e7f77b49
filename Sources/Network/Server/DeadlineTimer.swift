public import NIOCore
public import Wire

/// One deadline on an event loop. Setting it replaces the previous one; releasing the timer cancels it.
///
/// Confined to its event loop.
public final class DeadlineTimer {
  private let eventLoop: any EventLoop
  private let now: () -> Instant
  private let fired: () -> Void
  private var task: Scheduled<Void>?

  /// - Parameters:
  ///   - now: the clock that deadlines refer to.
  ///   - fired: called on the event loop, never from within `set`.
  public init(on eventLoop: any EventLoop, now: @escaping () -> Instant, fired: @escaping () -> Void) {
    self.eventLoop = eventLoop
    self.now = now
    self.fired = fired
  }

  deinit { task?.cancel() }

  /// Fires at `deadline`, or as soon as possible if it has passed; nil: cancels.
  public func set(_ deadline: Instant?) {
    if let deadline { set(deadline - now()) } else { cancel() }
  }

  /// Fires after `delay`, or as soon as possible if it is negative.
  public func set(_ delay: Duration) {
    cancel()
    task = eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(max(0, delay.nanoseconds))) { [weak self] in
      guard let self else { return }
      task = nil
      fired()
    }
  }

  public func cancel() {
    task?.cancel()
    task = nil
  }
}

extension DeadlineTimer: MediaTimer {
  func close() { cancel() }
}
