internal import Devices
internal import Health

/// Why a device cannot be used, with the command that fixes it or shows more.
enum DeviceTrouble {
  /// - Parameters:
  ///   - daemon: has the devices open while it runs.
  ///   - user: the account that needs access.
  static func finding(
    _ what: String, _ state: Finding.State, _ error: DeviceError, daemon: RunningDaemon, user: String
  ) -> Finding {
    if error.reason == .busy, case .hidden = daemon {
      return Finding(
        what, .unknown, "\(error.device) is in use; whether by the daemon may not be asked",
        remedy: "sudo cradle-child doctor")
    }
    let isPath = error.device.hasPrefix("/")
    let remedy =
      switch error.reason {
      case .permissionDenied: "sudo usermod -aG \(what.hasPrefix("camera") ? "video" : "audio") \(user)"
      case .busy: "sudo fuser -v \(isPath ? error.device : "/dev/snd/*")"
      case .notFound, .disconnected: "cradle-child devices   # after plugging it in"
      case .silent, .frozen, .digitalSilence, .damaged, .wrongRate, .unsupportedFormat, .invalidFile, .notDimmable,
        .program, .io:
        error.advice ?? "sudo dmesg | tail -n 30"
      }
    // With `auto` there is no device name.
    let isAny = what.hasPrefix(error.device)
    return Finding(what, state, isAny ? error.summary : "\(error.device): \(error.summary)", remedy: remedy)
  }
}
