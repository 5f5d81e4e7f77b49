internal import Frames
internal import Linux
internal import Monitoring
internal import NIOCore
internal import Wire

/// Looks after the machine while the child runs. Confined to the event loop; each look is taken on a thread of its own.
///
/// `@unchecked Sendable` because of that.
final class HealthMonitor: @unchecked Sendable {
  private let loop: any EventLoop
  private var log = HealthLog()
  /// Nil while the thread has it.
  private var probe: HealthProbe?
  private var timer: RepeatedTask?
  /// What the last look found.
  private(set) var conditions: [HealthLog.Condition] = []
  private let changed: (HealthLog.Change) -> Void

  private static let interval: Duration = .seconds(30)

  /// `changed` is called on the event loop.
  init(_ probe: HealthProbe, loop: any EventLoop, changed: @escaping (HealthLog.Change) -> Void) {
    self.probe = probe
    self.loop = loop
    self.changed = changed
  }

  /// The first look is taken at once.
  func start() {
    let bound = NIOLoopBound(self, eventLoop: loop)
    timer = loop.scheduleRepeatedTask(
      initialDelay: .zero, delay: .nanoseconds(Self.interval.nanoseconds)
    ) { _ in bound.value.look() }
  }

  func stop() {
    timer?.cancel()
    timer = nil
  }

  private func look() {
    // A disk that hangs keeps the thread; what it kept is told when it goes on.
    guard let probe else { return }
    self.probe = nil
    let bound = NIOLoopBound(self, eventLoop: loop)
    let loop = loop
    _ = WorkerThread(name: "health") {
      var probe = probe
      let conditions = probe.run(unixSeconds: MonotonicClock.unixNanoseconds / 1_000_000_000)
      loop.execute { [probe] in bound.value.found(conditions, probe) }
    }
  }

  private func found(_ conditions: [HealthLog.Condition], _ probe: HealthProbe) {
    self.probe = probe
    guard timer != nil else { return }
    self.conditions = conditions
    log.note(conditions, now: MonotonicClock.now).forEach(changed)
  }
}
