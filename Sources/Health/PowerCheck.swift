public import Linux

/// Undervoltage on a Raspberry Pi, from its firmware's throttling bits or else its voltage sensor.
public enum PowerCheck {
  // Bits of `vcgencmd get_throttled`: raspberrypi.com, "Raspberry Pi OS", vcgencmd.
  private static let underVoltageNow = 1 << 0
  private static let hotNow = 1 << 3
  private static let underVoltageBefore = 1 << 16
  private static let hotBefore = 1 << 19

  private static let remedy =
    "Use the power supply that the board's maker recommends (5 V, 3 A or more) and a short, thick cable."

  /// Nil on machines without such a sensor.
  public static func run(_ files: SystemFiles) -> Finding? {
    let what = "power supply"
    if let bits = throttling(files) {
      if bits & underVoltageNow != 0 {
        return Finding(what, .problem, "the voltage is too low now: the board slows down, USB fails", remedy: remedy)
      }
      if bits & underVoltageBefore != 0 {
        var finding = Finding(what, .warning, "the voltage has been too low since the board started", remedy: remedy)
        finding.isPast = true
        return finding
      }
      return Finding(what, .ok, "the voltage has never been too low since the board started")
    }
    for chip in files.names("/sys/class/hwmon") {
      let path = "/sys/class/hwmon/\(chip)"
      guard files.line("\(path)/name") == "rpi_volt", let alarm = files.number("\(path)/in0_lcrit_alarm") else {
        continue
      }
      // The driver polls the sensor every few seconds and keeps the alarm until then.
      return alarm == 0
        ? Finding(what, .ok, "the voltage is right")
        : Finding(what, .problem, "the voltage is too low: the board slows down, USB fails", remedy: remedy)
    }
    guard files.text("/proc/device-tree/model")?.contains("Raspberry Pi") == true else { return nil }
    return Finding(what, .unknown, "this kernel does not report it", remedy: "vcgencmd get_throttled")
  }

  /// Whether the firmware throttled the board because of heat: now, or since it started. Nil where it does not say.
  static func heat(_ files: SystemFiles) -> (now: Bool, before: Bool)? {
    throttling(files).map { ($0 & hotNow != 0, $0 & hotBefore != 0) }
  }

  /// The kernel reports the bits in hexadecimal. On a Pi 5 the folder's name contains the bus address.
  private static func throttling(_ files: SystemFiles) -> Int? {
    let base = "/sys/devices/platform"
    for bus in files.names(base) where bus.hasPrefix("soc") {
      for device in files.names("\(base)/\(bus)") where device.hasSuffix("firmware") {
        if let text = files.line("\(base)/\(bus)/\(device)/get_throttled") {
          return Int(text.hasPrefix("0x") ? String(text.dropFirst(2)) : text, radix: 16)
        }
      }
    }
    return nil
  }
}
