internal import Wire

/// A light: `lights[].device`, `--light`.
public enum LightDevice: ConfigurationText {
  /// `none`: there is no lamp.
  case off
  /// Exists only in memory.
  case simulated
  /// A line of a GPIO chip by its number or its name: `gpio:/dev/gpiochip0/17`, `gpio:/dev/gpiochip0/GPIO17`. With the
  /// suffix `:active-low`, the lamp is on while the line is low.
  case gpio(chip: String, line: GPIOLine, isActiveLow: Bool)
  /// A directory below /sys/class/leds.
  case led(path: String)

  public static let allowed =
    "none, simulated, gpio:/dev/gpiochip0/17 (or the line's name; with :active-low behind it if the lamp shines while "
    + "the line is low), or led:/sys/class/leds/NAME"
  private static let activeLow = ":active-low"

  public init?(_ text: String) {
    switch text {
    case "none": self = .off
    case "simulated": self = .simulated
    default:
      if let place = text.after(prefix: "gpio:"), let slash = place.lastIndex(of: "/") {
        let chip = String(place[..<slash])
        let isActiveLow = place.hasSuffix(Self.activeLow)
        let end = isActiveLow ? place.index(place.endIndex, offsetBy: -Self.activeLow.count) : place.endIndex
        guard chip.hasPrefix("/"), chip.dropFirst().contains("/"), chip.isPlainPath, slash < end,
          let line = GPIOLine(String(place[place.index(after: slash)..<end]))
        else { return nil }
        self = .gpio(chip: chip, line: line, isActiveLow: isActiveLow)
      } else if let path = text.after(prefix: "led:"), path.hasPrefix("/"), path.isPlainPath {
        self = .led(path: path)
      } else {
        return nil
      }
    }
  }

  public var description: String {
    switch self {
    case .off: "none"
    case .simulated: "simulated"
    case .gpio(let chip, let line, let isActiveLow):
      "gpio:\(chip)/\(line)" + (isActiveLow ? Self.activeLow : "")
    case .led(let path): "led:\(path)"
    }
  }
}

/// A line of a GPIO chip.
public enum GPIOLine: LosslessStringConvertible, Hashable, Sendable {
  case offset(UInt32)
  /// From the board's device tree: does not begin with a digit, at most 31 bytes (GPIO_MAX_NAME_SIZE in linux/gpio.h).
  case name(String)

  public init?(_ text: String) {
    guard let first = text.unicodeScalars.first, first.isASCII else { return nil }
    if first.properties.numericType != nil {
      guard let offset = UInt32(text) else { return nil }
      self = .offset(offset)
    } else {
      let isName =
        (first.properties.isAlphabetic || first == "_") && text.utf8.count <= 31
        && text.unicodeScalars.allSatisfy { $0.isPrintable && $0 != ":" && $0 != "/" }
      guard isName else { return nil }
      self = .name(text)
    }
  }

  public var description: String {
    switch self {
    case .offset(let offset): "\(offset)"
    case .name(let name): name
    }
  }
}
