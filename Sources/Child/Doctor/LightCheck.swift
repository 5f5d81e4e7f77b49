internal import DeviceNames
internal import Devices
internal import Health
internal import Linux
internal import Storage

/// Checks every configured light and infrared lamp without opening it, because opening a lamp would switch it.
enum LightCheck {
  static func run(
    _ lights: [ChildConfiguration.Light], cameras: [ChildConfiguration.Camera] = [], daemon: RunningDaemon,
    files: SystemFiles,
    chip: (String) -> GPIOChipDescription = GPIOChipDescription.read
  ) -> [Finding] {
    let findings = lamps(lights, cameras: cameras, isDaemonRunning: daemon.report != nil, files: files, chip: chip)
    return findings.isEmpty ? [Finding("light", .ok, "none is configured")] : findings
  }

  /// One for each lamp.
  static func lamps(
    _ lights: [ChildConfiguration.Light], cameras: [ChildConfiguration.Camera], isDaemonRunning: Bool,
    files: SystemFiles, chip: (String) -> GPIOChipDescription = GPIOChipDescription.read
  ) -> [Finding] {
    let lamps = lights.map { ("light \($0.id)", $0.device) } + cameras.map { ("infrared \($0.id)", $0.infrared) }
    return lamps.compactMap { what, device -> Finding? in
      switch device {
      case .off: return nil
      case .simulated: return Finding(what, .ok, "simulated")
      case .gpio(let path, let line, _):
        return finding(what, line, of: chip(path), isOurs: isDaemonRunning)
      case .led(let path): return led(what, path, files)
      }
    }
  }

  /// - Parameter isOurs: the daemon is running, so it should be the consumer of the line.
  static func finding(
    _ what: String, _ wanted: GPIOLine, of chip: GPIOChipDescription, isOurs: Bool
  ) -> Finding {
    if let problem = chip.problem { return Finding(what, .problem, problem, remedy: "ls -l /dev/gpiochip*; id") }
    let found = chip.lines.first { line in
      switch wanted {
      case .offset(let offset): line.offset == Int(offset)
      case .name(let name): line.name == name
      }
    }
    guard let found else {
      return Finding(
        what, .problem, "\(chip.device) (\(chip.label)) has no line \(wanted)", remedy: "cradle-child devices")
    }
    let place = "line \(found.offset)" + (found.name.isEmpty ? "" : " (\(found.name))") + " of \(chip.device)"
    guard found.isUsed else {
      return isOurs
        ? Finding(what, .problem, "the daemon runs and does not have \(place)", remedy: "journalctl -u cradle-child")
        : Finding(what, .ok, "\(place), free")
    }
    // The daemon's consumer label: `GPIOLight`.
    if found.consumer == "cradle" { return Finding(what, .ok, "\(place), in use by the daemon") }
    return Finding(
      what, .problem, "\(place) is in use by \(found.consumer.isEmpty ? "the kernel" : found.consumer)",
      remedy: "cradle-child devices   # shows which lines are free")
  }

  private static func led(_ what: String, _ path: String, _ files: SystemFiles) -> Finding {
    guard let maximum = files.number("\(path)/max_brightness") else {
      return Finding(what, .problem, "\(path): there is no such lamp", remedy: "cradle-child devices")
    }
    return Finding(what, .ok, "\(path), \(files.number("\(path)/brightness") ?? 0) of \(maximum)")
  }
}
