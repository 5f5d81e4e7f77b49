internal import Synchronization

/// A lamp that is open. Letting it go changes nothing of its light; `restore` does.
protocol LightPort: AnyObject, Sendable {
  /// Whether there is something between off and on.
  var isDimmable: Bool { get }
  /// False after it was unplugged, also if another one has come in its place.
  var isThere: Bool { get }

  /// 0 is off, 100 as bright as it gets. A lamp that is not dimmable is on from 1.
  func set(percent: Int) throws(DeviceError)
  /// What it was before, as far as the system says; else off.
  func restore() throws(DeviceError)
}

/// A lamp in memory, for trying things out.
final class SimulatedLight: LightPort {
  private let percent: Atomic<Int>

  init(percent: Int) {
    self.percent = Atomic(percent)
  }

  var isDimmable: Bool { true }
  var isThere: Bool { true }

  func set(percent: Int) {
    self.percent.store(percent, ordering: .relaxed)
  }

  func restore() {
    set(percent: 0)
  }
}
