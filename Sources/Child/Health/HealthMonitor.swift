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
  /// Something has happened since the thread began to look.
  private var isDueAgain = false
  private var waiting: [EventLoopPromise<[HealthLog.Condition]>] = []
  /// What the last look found.
  private var conditions: [HealthLog.Condition] = []
  private let changed: (HealthLog.Change) -> Void

  private static let interval: Duration = .seconds(30)
  /// Nobody who asks waits longer for a disk that hangs.
  private static let patience: TimeAmount = .seconds(1)

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
    answer()
  }

  /// Looks at once: something has happened that may have to do with the machine.
  func lookNow() {
    guard timer != nil else { return }
    if probe == nil { isDueAgain = true } else { look() }
  }

  /// How it stands at this moment; what is known where a disk hangs.
  func current() -> EventLoopFuture<[HealthLog.Condition]> {
    guard timer != nil else { return loop.makeSucceededFuture(conditions) }
    let promise = loop.makePromise(of: [HealthLog.Condition].self)
    waiting.append(promise)
    lookNow()
    let bound = NIOLoopBound(self, eventLoop: loop)
    let limit = loop.scheduleTask(in: Self.patience) { bound.value.answer() }
    promise.futureResult.whenComplete { _ in limit.cancel() }
    return promise.futureResult
  }

  private func answer() {
    let promises = waiting
    waiting = []
    for promise in promises { promise.succeed(conditions) }
  }

  private func look() {
    // A disk that hangs keeps the thread; what it kept is reported when it goes on.
    guard let probe else { return }
    self.probe = nil
    isDueAgain = false
    let bound = NIOLoopBound(self, eventLoop: loop)
    let loop = loop
    _ = WorkerThread(name: "health") {
      var probe = probe
      let conditions = probe.run(unixSeconds: MonotonicClock.unixSeconds)
      loop.execute { [probe] in bound.value.found(conditions, probe) }
    }
  }

  private func found(_ conditions: [HealthLog.Condition], _ probe: HealthProbe) {
    self.probe = probe
    guard timer != nil else { return }
    self.conditions = conditions
    log.note(conditions, now: MonotonicClock.now).forEach(changed)
    if isDueAgain { look() } else { answer() }
  }
}
