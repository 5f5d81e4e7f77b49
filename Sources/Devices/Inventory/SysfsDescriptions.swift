internal import Linux

/// A lamp of the LED class: Documentation/leds/leds-class.rst of the kernel.
public struct LEDDescription: Codable, Hashable, Sendable {
  /// /sys/class/leds/NAME, as in `led:/sys/class/leds/NAME`.
  public var path: String
  public var name: String
  public var brightness: Int
  public var maximumBrightness: Int

  static func all(in folder: String = "/sys/class/leds") -> [LEDDescription] {
    SystemFiles().names(folder).compactMap { name in
      let path = "\(folder)/\(name)"
      guard let maximum = SystemFiles().line("\(path)/max_brightness").flatMap({ Int($0) }) else { return nil }
      let brightness = SystemFiles().line("\(path)/brightness").flatMap { Int($0) } ?? 0
      return LEDDescription(path: path, name: name, brightness: brightness, maximumBrightness: maximum)
    }
  }
}

/// One input of a sensor: hwmon or industrial I/O.
public struct SensorDescription: Codable, Hashable, Sendable {
  public enum System: String, Codable, Hashable, Sendable {
    case hwmon, iio
  }

  public var system: System
  /// The file that holds the value.
  public var path: String
  /// The chip: "lm75", "bme280", ….
  public var chip: String
  /// The quantity: the driver's label, else the file's name without its suffix ("temp1", "in_temp").
  public var name: String

  static func all(in folder: String = "/sys") -> [SensorDescription] {
    inputs(.hwmon, in: "\(folder)/class/hwmon") + inputs(.iio, in: "\(folder)/bus/iio/devices")
  }

  private static func inputs(_ system: System, in folder: String) -> [SensorDescription] {
    SystemFiles().names(folder).flatMap { device -> [SensorDescription] in
      let path = "\(folder)/\(device)"
      guard let chip = SystemFiles().line("\(path)/name") else { return [] }
      return SystemFiles().names(path).compactMap { file in
        guard let name = quantity(of: file, system) else { return nil }
        let label = SystemFiles().line("\(path)/\(name)_label")
        return SensorDescription(system: system, path: "\(path)/\(file)", chip: chip, name: label ?? name)
      }
    }
  }

  /// "temp1_input" → "temp1"; "in_temp_raw" and "in_temp_input" → "in_temp"; nil for a file that is not a value.
  private static func quantity(of file: String, _ system: System) -> String? {
    switch system {
    case .hwmon: file.hasSuffix("_input") ? String(file.dropLast(6)) : nil
    case .iio where !file.hasPrefix("in_"): nil
    case .iio where file.hasSuffix("_raw"): String(file.dropLast(4))
    case .iio where file.hasSuffix("_input"): String(file.dropLast(6))
    case .iio: nil
    }
  }
}
