internal import Control
internal import DeviceNames
internal import Devices
internal import Frames
internal import NIOCore
internal import Server
internal import Storage
internal import Wire

/// The configured lights, controlled by commands and timers. Each device is driven on a thread of its own.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class LightBoard: @unchecked Sendable {
  private var lights: Lights
  private var drivers: [(id: String, driver: LightDriver)] = []
  private var reports: [String: LightDriver.Report] = [:]
  private let loop: any EventLoop
  private lazy var timer = DeadlineTimer(on: loop, now: { MonotonicClock.now }) { [weak self] in self?.due() }
  /// Called when a state has changed.
  var changed: () -> Void = {}

  /// Opens the lights, which may block: do not call it on the event loop. Lights without a device are left out.
  convenience init(_ configured: [ChildConfiguration.Light], loop: any EventLoop) {
    self.init(
      configured.compactMap { entry in
        Devices.Light(entry.device).map { (entry.id, $0) }
      }, loop: loop)
  }

  init(_ devices: [(id: String, light: any DrivenLight)], loop: any EventLoop) {
    self.loop = loop
    lights = Lights(
      devices.map { id, light in
        let isDimmable = if case .ready(isDimmable: false) = light.refresh() { false } else { true }
        return LightController(id: id, isDimmable: isDimmable)
      })
    drivers = devices.map { id, light in
      let driver = LightDriver(light) { [weak self] report in
        let board = self
        loop.execute { board?.reported(report, of: id) }
      }
      driver.start()
      return (id, driver)
    }
    // The drivers already report to the loop.
    if loop.inEventLoop {
      drive()
    } else {
      loop.execute { self.drive() }
    }
  }

  var isEmpty: Bool { drivers.isEmpty }
  var states: [LightState] { lights.states }

  func set(_ setting: LightSet) throws(ControlError) -> LightDocument {
    defer { settle() }
    return try lights.set(setting, now: MonotonicClock.now)
  }

  func flash(_ pattern: LightFlash) throws(ControlError) -> LightDocument {
    defer { settle() }
    return try lights.flash(pattern, now: MonotonicClock.now)
  }

  /// Checks for lights that have disappeared or come back. Call each second.
  func refresh() {
    let now = MonotonicClock.now
    for (id, driver) in drivers {
      if driver.isStuck(at: now) { reported(.init(isPresent: false), of: id) }
      driver.refresh()
    }
  }

  /// Sets every light to its configured level and closes it; `releases` wait until that is complete.
  func stop() {
    timer.cancel()
    lights.restore()
    drive()
    for (_, driver) in drivers { driver.finish() }
  }

  /// For each light, a function that blocks until the light is closed after `stop`.
  var releases: [@Sendable () -> Void] {
    drivers.map { _, driver in { driver.join() } }
  }

  private func reported(_ report: LightDriver.Report, of id: String) {
    guard reports.updateValue(report, forKey: id) != report else { return }
    let before = lights.states
    lights.setPresent(report.isPresent, isDimmable: report.isDimmable, id: id)
    settle()
    if lights.states != before { changed() }
  }

  private func settle() {
    lights.handleTimeout(now: MonotonicClock.now)
    drive()
    timer.set(lights.nextDeadline)
  }

  private func due() {
    let before = lights.states
    settle()
    if lights.states != before { changed() }
  }

  private func drive() {
    while let (id, level) = lights.poll() {
      drivers.first { $0.id == id }?.driver.setLevel(level)
    }
  }
}
