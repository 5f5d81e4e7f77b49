internal import Control
internal import Devices
internal import Frames
internal import NIOCore
internal import Storage
internal import Wire

/// The configured lights, driven as commands and time have it. Confined to the event loop.
final class LightBoard {
  private var lights: Lights
  private let devices: [(id: String, light: Devices.Light)]
  private let loop: any EventLoop
  private var timer: Scheduled<Void>?
  /// Something is other than before.
  var changed: () -> Void = {}

  /// Lights without a device are left out.
  init(_ configured: [ChildConfiguration.Light], loop: any EventLoop) {
    self.loop = loop
    devices = configured.compactMap { entry in
      Devices.LightDevice(entry.device).map { (entry.id, Devices.Light($0)) }
    }
    lights = Lights(
      devices.map { id, light in
        let isDimmable = if case .ready(isDimmable: false) = light.refresh() { false } else { true }
        return LightController(id: id, isDimmable: isDimmable)
      })
    drive()
  }

  var isEmpty: Bool { devices.isEmpty }
  var states: [LightState] { lights.states }

  func set(_ setting: LightSetting) throws(ControlError) -> LightDocument {
    defer { settle() }
    return try lights.set(setting, now: MonotonicClock.now)
  }

  func flash(_ pattern: LightFlash) throws(ControlError) -> LightDocument {
    defer { settle() }
    return try lights.flash(pattern, now: MonotonicClock.now)
  }

  /// Looks for lights that have gone or come back. Each second.
  func refresh() {
    let before = lights.states
    for (id, light) in devices {
      let isThere = if case .ready = light.refresh() { true } else { false }
      lights.setPresent(isThere, id: id)
    }
    drive()
    if lights.states != before { changed() }
  }

  /// Leaves every light as it is configured to be.
  func stop() {
    timer?.cancel()
    lights.restore()
    drive()
    for (_, light) in devices { light.close() }
  }

  private func settle() {
    drive()
    timer?.cancel()
    timer = lights.nextDeadline.map { deadline in
      let wait = max(.zero, deadline - MonotonicClock.now)
      return loop.scheduleTask(in: .nanoseconds(wait.nanoseconds)) { [bound = NIOLoopBound(self, eventLoop: loop)] in
        bound.value.due()
      }
    }
  }

  private func due() {
    let before = lights.states
    lights.handleTimeout(now: MonotonicClock.now)
    settle()
    if lights.states != before { changed() }
  }

  private func drive() {
    while let (id, level) = lights.poll() {
      guard let light = devices.first(where: { $0.id == id })?.light else { continue }
      do throws(DeviceError) {
        try light.setLevel(level)
      } catch {
        lights.setPresent(false, id: id)
      }
    }
  }
}
