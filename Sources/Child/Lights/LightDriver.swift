internal import Devices
internal import Frames
internal import Synchronization
internal import Wire

/// What a driver needs of a light; calls may block.
protocol DrivenLight: Sendable {
  func setLevel(_ percent: Int) throws(DeviceError)
  func refresh() -> Light.State
  func close()
}

extension Light: DrivenLight {}

/// Drives one light on a thread of its own, because an ioctl or a write below /sys takes as long as the bus behind it
/// does. The newest level wins; one that was not driven in time is left out.
final class LightDriver: Sendable {
  /// How the light was found.
  struct Report: Hashable, Sendable {
    var isPresent: Bool
    /// Nil when it does not say.
    var isDimmable: Bool?
  }

  private struct Work: Sendable {
    var level: Int?
    var isRefreshDue = false
    var isOver = false
    /// Since when something has been asked for and not been done; nil when nothing is.
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

  /// Looks whether the light is there, and opens it again when it came back.
  func refresh() { ask { $0.isRefreshDue = true } }

  /// Drives what is still to be driven, then lets the light go.
  func finish() { ask { $0.isOver = true } }

  /// Waits for the end after `finish`. Blocks.
  func join() {
    thread.withLock { thread in
      defer { thread = nil }
      return thread
    }?.join()
  }

  /// How long the driver has been at one piece of work.
  func delay(at now: Instant) -> Duration {
    work.withLock { $0.waitingSince.map { now - $0 } ?? .zero }
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
        if work.level == nil, !work.isRefreshDue, !work.isOver { work.waitingSince = nil }
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
