public import DeviceNames
internal import Synchronization

/// Keeps one lamp at the level last set, even if it was unplugged in between.
///
/// Calls take microseconds, or milliseconds for lamps on USB or I²C, and may come from any thread.
public final class Light: Sendable {
  public enum State: Hashable, Sendable {
    case ready(isDimmable: Bool)
    /// It cannot be switched, for this reason; `refresh` tries again.
    case missing(DeviceError)
    case closed
  }

  private let device: LightDevice
  private let open: @Sendable (_ percent: Int) throws(DeviceError) -> any LightPort
  private let content = Mutex(Content())

  private struct Content: Sendable {
    var port: (any LightPort)?
    var percent = 0
    var isClosed = false
  }

  /// Opens nothing yet: `refresh` and `setLevel` do. Nil for `off`.
  public convenience init?(_ device: LightDevice) {
    switch device {
    case .off: return nil
    case .simulated:
      self.init(device) { (percent) throws(DeviceError) in SimulatedLight(percent: percent) }
    case .gpio(let chip, let line, let isActiveLow):
      self.init(device) { (percent) throws(DeviceError) in
        try GPIOLight(chip: chip, line: line, isActiveLow: isActiveLow, percent: percent)
      }
    case .led(let path):
      self.init(device) { (percent) throws(DeviceError) in try LEDLight(path: path, percent: percent) }
    }
  }

  /// `open` returns a lamp already set to the given percentage, so that nothing flickers.
  init(
    _ device: LightDevice, open: @escaping @Sendable (_ percent: Int) throws(DeviceError) -> any LightPort
  ) {
    self.device = device
    self.open = open
  }

  deinit { close() }

  /// 0 is off, 100 full brightness; values beyond are clamped.
  ///
  /// Throws `notDimmable` for a level in between on a lamp that can only be on or off, or the reason why the lamp
  /// cannot be switched. The lamp then keeps its level, or returns to it.
  public func setLevel(_ percent: Int) throws(DeviceError) {
    let percent = min(max(percent, 0), 100)
    try content.withLock { (content) throws(DeviceError) in
      guard !content.isClosed else { throw DeviceError(device: device.description, reason: .disconnected) }
      if content.port == nil { content.port = try open(content.percent) }
      if let port = content.port, !port.isDimmable, (1..<100).contains(percent) {
        throw DeviceError(
          device: device.description, reason: .notDimmable, advice: "Ask for on or off, or for 0 or 100 percent.")
      }
      do throws(DeviceError) {
        try content.port?.set(percent: percent)
      } catch {
        guard content.port?.isThere == false else { throw error }
        // Unplugged, and perhaps already back. Release the old line first, or it is still in use.
        content.port = nil
        content.port = try open(percent)
      }
      content.percent = percent
    }
  }

  /// Reopens a missing lamp at the level it had. Call about once a second: nothing notifies us when a lamp is unplugged
  /// or comes back.
  public func refresh() -> State {
    content.withLock { content in
      guard !content.isClosed else { return .closed }
      do throws(DeviceError) {
        if content.port?.isThere != true {
          content.port = nil
          content.port = try open(content.percent)
        }
        return .ready(isDimmable: content.port?.isDimmable ?? false)
      } catch {
        return .missing(error)
      }
    }
  }

  /// Restores the lamp's previous state as far as it is known, else switches it off. Idempotent.
  public func close() {
    content.withLock { content in
      try? content.port?.restore()
      content = Content(isClosed: true)
    }
  }
}
