internal import Devices
internal import Health
internal import Storage
internal import Wire

/// Checks every configured camera: by the daemon's report, else by opening it until it delivers a picture.
enum CameraCheck {
  static func run(
    _ configuration: ChildConfiguration, daemon: RunningDaemon, user: String
  ) -> [Finding] {
    if configuration.cameras.isEmpty { return [Finding("camera", .ok, "none is configured: sound alone")] }
    return configuration.cameras.map { camera in
      let what = "camera \(camera.id)"
      if let known = daemon.report?.cameras.first(where: { $0.id == camera.id }), known.device == "\(camera.device)" {
        return finding(what, known)
      }
      do throws(DeviceError) {
        let info = try ReadinessCheck.info(of: camera)
        return finding(what, info, camera)
      } catch {
        return DeviceTrouble.finding(what, .problem, error, daemon: daemon, user: user)
      }
    }
  }

  private static func finding(
    _ what: String, _ info: VideoSourceInfo, _ camera: ChildConfiguration.Camera
  ) -> Finding {
    guard info.controlProblems.isEmpty else {
      return Finding(
        what, .warning, "\(info.words); but " + info.controlProblems.joined(separator: "; "), remedy: controlRemedy)
    }
    guard info.differsFromRequest else { return Finding(what, .ok, info.sentences) }
    // It has the mode, and the bus no room for it.
    guard info.refusedMode == nil else { return Finding(what, .warning, info.sentences, remedy: otherPort) }
    return Finding(
      what, .warning, "\(info.words); \(camera.mode) is configured, which it does not have",
      remedy: "cradle-child devices   # lists its sizes and rates, for `cameras` in the configuration")
  }

  private static let otherPort = "Use another USB port for it, or ask for a smaller size in the configuration."
  /// From this share of damaged pictures on a doctor warns, in percent.
  private static let muchDamage = 10

  private static let controlRemedy = "cradle-child devices   # lists its controls, for `controls` in the configuration"

  /// From the report of the daemon, which has the camera open.
  static func finding(_ what: String, _ camera: StatusReport.Camera) -> Finding {
    switch camera.state {
    case "running":
      let size = camera.width.flatMap { width in camera.height.map { ", \(width)x\($0)" } } ?? ""
      let rate =
        camera.framesPerSecond.map { " at \($0 == $0.rounded() ? "\(Int(saturating: $0))" : "\($0)") frames/s" } ?? ""
      let words = "\(camera.detail)\(size)\(rate), in use by the daemon"
      if let problems = camera.controlProblems, !problems.isEmpty {
        return Finding(what, .warning, "\(words); but " + problems.joined(separator: "; "), remedy: controlRemedy)
      }
      let sentences = words.followed(by: camera.remarks ?? [])
      if camera.damagedPercent >= muchDamage {
        return Finding(
          what, .warning, "\(sentences); \(camera.damagedPercent) % of its pictures are damaged",
          remedy: "Try another cable or USB port, without a hub.")
      }
      return Finding(what, .ok, sentences)
    case "missing":
      // The detail already contains advice.
      return Finding(what, .problem, camera.detail, remedy: "cradle-child devices")
    case "off":
      return Finding(what, .ok, "it is paused: cradle-parent camera resume, or *Privacy* on the phone page")
    default:
      return Finding(what, .warning, "the daemon is still opening it", remedy: "cradle-child status")
    }
  }
}
