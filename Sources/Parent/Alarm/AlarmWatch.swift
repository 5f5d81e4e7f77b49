internal import Frames
internal import Monitoring
internal import NIOCore
internal import Wire

/// The alarm with a clock: evaluated as things arrive and twice a second. Confined to the event loop.
final class AlarmWatch {
  private static let interval: Duration = .milliseconds(500)
  /// A look that comes this late means that the machine slept.
  private static let slept: Duration = .seconds(3)

  private let loop: any EventLoop
  private let changed: (Alarm.Report?) -> Void
  private var alarm = Alarm()
  private var report: Alarm.Report?
  private var timer: RepeatedTask?
  private var lookedAt = MonotonicClock.now

  /// - Parameter changed: called with what is wrong now whenever that is something else.
  init(eventLoop: any EventLoop, changed: @escaping (Alarm.Report?) -> Void) {
    loop = eventLoop
    self.changed = changed
  }

  func start() {
    lookedAt = MonotonicClock.now
    let bound = NIOLoopBound(self, eventLoop: loop)
    let interval = TimeAmount.nanoseconds(Self.interval.nanoseconds)
    timer = loop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in bound.value.look() }
  }

  func stop() {
    timer?.cancel()
    timer = nil
  }

  func note(_ note: Alarm.Note) {
    alarm.note(note, now: MonotonicClock.now)
    switch note {
    // They come often; the next look is soon.
    case .picture, .sound: if report != nil { evaluate() }
    default: evaluate()
    }
  }

  func acknowledge() {
    alarm.acknowledge(now: MonotonicClock.now)
    evaluate()
  }

  func test() {
    alarm.test(now: MonotonicClock.now)
    evaluate()
  }

  private func look() {
    let now = MonotonicClock.now
    let late = now - lookedAt - Self.interval
    lookedAt = now
    if late > Self.slept { alarm.note(.woke(late), now: now) }
    evaluate()
  }

  private func evaluate() {
    let new = alarm.evaluate(now: MonotonicClock.now)
    guard new != report else { return }
    report = new
    changed(new)
  }
}
