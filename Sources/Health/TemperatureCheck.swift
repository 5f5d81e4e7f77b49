public import Linux

/// Temperature, from the thermal zones of the kernel (Documentation/driver-api/thermal/sysfs-api.rst).
public enum TemperatureCheck {
  // °C. A Raspberry Pi begins to throttle at 80 and throttles hard at 85.
  private static let hot = 80
  private static let tooHot = 85

  private static let remedy = "Give it air or a heat sink, and keep it out of the sun."

  /// Nil on machines without a sensor.
  public static func run(_ files: SystemFiles) -> Finding? {
    let what = "temperature"
    let zones = files.names("/sys/class/thermal").filter { $0.hasPrefix("thermal_zone") }
    // Unused sensors read 0 or less.
    let hottest = zones.compactMap { files.number("/sys/class/thermal/\($0)/temp") }.filter { $0 > 0 }.max()
    let heat = PowerCheck.heat(files)
    guard let hottest else { return nil }
    let degrees = hottest / 1000
    if degrees >= tooHot { return Finding(what, .problem, "\(degrees) °C: the board slows down", remedy: remedy) }
    if heat?.now == true || degrees >= hot {
      return Finding(what, .warning, "\(degrees) °C: the board begins to slow down", remedy: remedy)
    }
    if heat?.before == true {
      var finding = Finding(
        what, .warning, "\(degrees) °C; since it started, the board has been so hot that it slowed down", remedy: remedy
      )
      finding.isPast = true
      return finding
    }
    return Finding(what, .ok, "\(degrees) °C")
  }
}
