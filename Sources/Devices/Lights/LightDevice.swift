/// The value of `lights: device:`.
public enum LightDevice: Hashable, Sendable, CustomStringConvertible {
  /// Kept in memory only.
  case simulated
  /// A line of a GPIO chip. `isActiveLow`: the lamp is on while the line is low.
  case gpio(chip: String, line: GPIOLine, isActiveLow: Bool)
  /// A directory of the LED class: /sys/class/leds/NAME.
  case led(path: String)

  /// The configuration's spelling.
  public var description: String {
    switch self {
    case .simulated: "simulated"
    case .gpio(let chip, let line, let isActiveLow): "gpio:\(chip)/\(line)" + (isActiveLow ? ":active-low" : "")
    case .led(let path): "led:\(path)"
    }
  }
}

/// Which line of a chip.
public enum GPIOLine: Hashable, Sendable, CustomStringConvertible {
  case offset(UInt32)
  /// The name in the board's device tree; shown by `cradle-child devices`.
  case name(String)

  public var description: String {
    switch self {
    case .offset(let offset): "\(offset)"
    case .name(let name): name
    }
  }
}
