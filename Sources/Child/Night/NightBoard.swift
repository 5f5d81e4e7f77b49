internal import Control
internal import DeviceNames
internal import Devices
internal import Frames
internal import NIOCore
internal import Pipelines
internal import Storage
internal import Wire

/// What the night needs of a camera. Calls return at once.
protocol NightCamera: Sendable {
  func requestBrightness()
  var brightness: VideoPipeline.Brightness? { get }
  var isWatched: Bool { get }
  func setNight(_ isNight: Bool)
}

extension VideoPipeline: NightCamera {}

/// Day and night of every camera, and its infrared lamp. Each lamp is driven on a thread of its own.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class NightBoard: @unchecked Sendable {
  struct Place: Sendable {
    var camera: any NightCamera
    var mode: NightMode
    /// Nil without one.
    var lamp: (any DrivenLight)?
  }

  struct State: Hashable, Sendable {
    var isNight: Bool
    /// `on`, `off` or `missing`; nil without a lamp.
    var infrared: LightDocument.State?
    /// The latest measurement, 0...1; nil before the first one.
    var brightness: Double?
  }

  private struct Entry {
    let place: Place
    var night = NightSwitch()
    var driver: LightDriver?
    var isLampPresent = true
    var isNight = false
    /// Of the measurement that was taken last.
    var measured: Instant?
    /// When the latest measurement was asked for.
    var asked: Instant?
  }

  private var entries: [Entry] = []
  private let now: @Sendable () -> Instant
  private var isStopped = false

  /// Between two measurements while somebody watches: pictures are there.
  private static let interval: Duration = .seconds(1)
  /// And while nobody does, for the lamp alone: a picture has to be made for each.
  private static let unwatchedInterval: Duration = .seconds(5)

  /// Opens the lamps, dark, which may block: do not call it on the event loop.
  convenience init(
    _ cameras: [VideoPipeline], _ configured: [ChildConfiguration.Camera], loop: any EventLoop
  ) {
    let places = zip(cameras, configured).map { camera, entry in
      Place(camera: camera, mode: entry.night, lamp: Light(entry.infrared))
    }
    self.init(places, loop: loop, now: { MonotonicClock.now })
  }

  init(_ places: [Place], loop: any EventLoop, now: @escaping @Sendable () -> Instant) {
    self.now = now
    entries = places.enumerated().map { index, place in
      var entry = Entry(place: place)
      guard let lamp = place.lamp else { return entry }
      entry.isLampPresent = if case .ready = lamp.refresh() { true } else { false }
      let driver = LightDriver(lamp) { [weak self] report in
        let board = self
        loop.execute { board?.reported(report, ofCamera: index) }
      }
      driver.start()
      entry.driver = driver
      return entry
    }
    for index in entries.indices where places[index].mode == .on { set(index, isNight: true) }
  }

  /// In the order of the cameras.
  var states: [State] {
    entries.map { entry in
      let shines: LightDocument.State = entry.isNight ? .on : .off
      return State(
        isNight: entry.isNight, infrared: entry.driver.map { _ in entry.isLampPresent ? shines : .missing },
        brightness: entry.place.mode == .auto ? entry.place.camera.brightness?.level : nil)
    }
  }

  /// Call each second.
  func beat() {
    guard !isStopped else { return }
    for index in entries.indices {
      if let driver = entries[index].driver {
        if driver.isStuck(at: now()) { entries[index].isLampPresent = false }
        driver.refresh()
      }
      if entries[index].place.mode == .auto { decide(index) }
    }
  }

  private func decide(_ index: Int) {
    let camera = entries[index].place.camera
    let time = now()
    if let brightness = camera.brightness, brightness.time != entries[index].measured {
      entries[index].measured = brightness.time
      let isLit = entries[index].isNight && entries[index].driver != nil && entries[index].isLampPresent
      if entries[index].night.observe(brightness: brightness.level, isLampLit: isLit, now: time) {
        set(index, isNight: entries[index].night.isNight)
      }
    }
    // Without a lamp the night is there for viewers alone.
    guard camera.isWatched || entries[index].driver != nil else { return }
    let interval = camera.isWatched ? Self.interval : Self.unwatchedInterval
    // The beat itself is a second, more or less.
    let isDue = entries[index].asked.map { time - $0 >= interval - .milliseconds(500) } ?? true
    guard isDue else { return }
    entries[index].asked = time
    camera.requestBrightness()
  }

  private func set(_ index: Int, isNight: Bool) {
    entries[index].isNight = isNight
    entries[index].place.camera.setNight(isNight)
    entries[index].driver?.setLevel(isNight ? 100 : 0)
  }

  private func reported(_ report: LightDriver.Report, ofCamera index: Int) {
    entries[index].isLampPresent = report.isPresent
  }

  /// Switches every lamp off and closes it; `releases` wait until that is complete.
  func stop() {
    isStopped = true
    for entry in entries {
      entry.driver?.setLevel(0)
      entry.driver?.finish()
    }
  }

  /// For each lamp, a function that blocks until it is closed after `stop`.
  var releases: [@Sendable () -> Void] {
    entries.compactMap(\.driver).map { driver in { driver.join() } }
  }
}
