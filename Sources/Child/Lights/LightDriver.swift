internal import Devices
internal import Frames
internal import Linux
internal import Synchronization
internal import Wire

/// A light as the driver needs it; calls may block.
protocol DrivenLight: Sendable {
  func setLevel(_ percent: Int) throws(DeviceError)
  func refresh() -> Light.State
  func close()
}

extension Light: DrivenLight {}

/// Drives one light on a thread of its own, because an ioctl or a write below /sys takes as long as the bus behind it
/// does. The latest level wins; levels that were not driven in time are skipped.
final class LightDriver: Sendable {
  /// The state in which the light was found.
  struct Report: Hashable, Sendable {
    var isPresent: Bool
    /// Nil when unknown.
    var isDimmable: Bool?
  }

  private struct Work: Sendable {
    var level: Int?
    var isRefreshDue = false
    var isOver = false
    /// Since when work has been pending; nil if there is none.
    var waitingSince: Instant?
  }

  private let light: any DrivenLight
  private let work = Mutex(Work())
  private let bell = Mailbox<Bool>(capacity: 1)
  private let report: @Sendable (Report) -> Void
  private let thread = Mutex<WorkerThread?>(nil)

  /// - Parameter report: called on the driver's thread.
  init(_ light: any DrivenLight, report: @escaping @Sendable (Report) -> Void) {
    self.light = light
    self.report = report
  }

  func start() {
    thread.withLock { $0 = WorkerThread(name: "light") { [self] in run() } }
  }

  func setLevel(_ percent: Int) { ask { $0.level = percent } }

  /// Checks whether the light is present, and reopens it when it has come back.
  func refresh() { ask { $0.isRefreshDue = true } }

  /// Drives any pending level, then closes the light.
  func finish() { ask { $0.isOver = true } }

  /// Waits for the thread to end after `finish`. Blocks.
  func join() {
    thread.withLock { thread in
      defer { thread = nil }
      return thread
    }?.join()
  }

  /// It takes so long that the light counts as missing.
  func isStuck(at now: Instant) -> Bool {
    work.withLock { $0.waitingSince.map { now - $0 > .seconds(3) } ?? false }
  }

  private func ask(_ change: (inout Work) -> Void) {
    work.withLock { work in
      change(&work)
      work.waitingSince = work.waitingSince ?? MonotonicClock.now
    }
    bell.put(true)
  }

  private func run() {
    while bell.take() != nil {
      let (level, isRefreshDue, isOver) = work.withLock { work in
        defer { (work.level, work.isRefreshDue) = (nil, false) }
        return (work.level, work.isRefreshDue, work.isOver)
      }
      if let level { drive(level) }
      if isRefreshDue, !isOver { report(found()) }
      if isOver { return light.close() }
      work.withLock { work in
        let isIdle = work.level == nil && !work.isRefreshDue && !work.isOver
        work.waitingSince = isIdle ? nil : MonotonicClock.now
      }
    }
  }

  private func drive(_ level: Int) {
    do throws(DeviceError) {
      try light.setLevel(level)
    } catch {
      report(Report(isPresent: false))
    }
  }

  private func found() -> Report {
    switch light.refresh() {
    case .ready(let isDimmable): Report(isPresent: true, isDimmable: isDimmable)
    case .missing, .closed: Report(isPresent: false)
    }
  }
}
