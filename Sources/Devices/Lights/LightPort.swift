internal import Synchronization

/// An open lamp. Releasing it does not change its level; `restore` does.
protocol LightPort: AnyObject, Sendable {
  /// Whether it supports levels between off and on.
  var isDimmable: Bool { get }
  /// False after it was unplugged, even if another has taken its place.
  var isThere: Bool { get }

  /// 0 is off, 100 full brightness. A lamp that is not dimmable is on from 1.
  func set(percent: Int) throws(DeviceError)
  /// Back to the previous state as far as it is known, else off.
  func restore() throws(DeviceError)
}

/// A lamp in memory only, for trying things out.
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
