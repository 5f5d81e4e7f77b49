import ArgumentParser
import Child
import Commands
import JSON
import Linux
import Wire

/// `cradle-child status`
struct Status: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows cameras, microphone, speaker, viewers, bit rates, alarms and uptime.")

  @OptionGroup var directories: DirectoryOptions
  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let status = try Daemon.ask(StatusShow(), directories)
    if json { return print(JSON.text(status)) }
    print("\(status.name) (\(status.id)), version \(status.version), up \(Self.duration(status.uptimeSeconds))")
    print(
      "HTTPS port \(status.port), media port \(status.mediaPort)"
        + (status.rtspPort.map { ", RTSP port \($0)" } ?? ""))
    for camera in status.cameras {
      var line = Self.line("Camera \(camera.id)", [camera.state, camera.detail])
      if let width = camera.width, let height = camera.height, let rate = camera.framesPerSecond {
        line += ", \(width)x\(height) at \(rate) frames/s"
      }
      print(line)
      if let night = Self.night(camera) { print("  \(night)") }
      if camera.damagedPercent > 0 { print("  \(camera.damagedPercent) % of its pictures are damaged and dropped") }
      for remark in (camera.remarks ?? []) + (camera.controlProblems ?? []) { print("  \(remark)") }
      if let milliseconds = camera.encodeMilliseconds {
        print("  \(camera.encoded) pictures encoded, \(milliseconds) ms each, target \(camera.targetKbps) kbit/s")
      }
      for rendition in camera.renditions {
        let size = rendition.width.flatMap { width in rendition.height.map { "\(width)x\($0)" } } ?? "not yet"
        let name = [rendition.name, rendition.codec].compactMap(\.self).joined(separator: ", ")
        print("  \(name): \(size), \(rendition.targetKbps) kbit/s, viewers: \(rendition.viewers)")
      }
    }
    print(Self.line(status.microphone))
    for remark in status.microphone.remarks ?? [] { print("  \(remark)") }
    if let speaker = status.speaker { print(Self.line("Speaker", [speaker.state, speaker.detail])) }
    if status.viewers.isEmpty {
      print("No viewers.")
    } else {
      let rows = status.viewers.map { viewer in
        let rate = viewer.availableOutgoingKbps > 0 ? "\(viewer.availableOutgoingKbps) kbit/s" : "-"
        return [
          viewer.name, viewer.state, Self.duration(viewer.seconds), viewer.roundTripMs.map { "\($0) ms" } ?? "-",
          viewer.fractionLost.map { "\(($0 * 1000).rounded() / 10) %" } ?? "-",
          rate, viewer.picture ?? "-",
        ]
      }
      print(Table.text([["VIEWER", "STATE", "SINCE", "ROUND TRIP", "LOST", "PATH", "PICTURE"]] + rows))
      for viewer in status.viewers {
        if let path = viewer.pathText { print("Path to \(viewer.name): \(path)") }
        for problem in viewer.problems ?? [] { print("\(viewer.name): \(problem)") }
      }
    }
    for refused in status.refused ?? [] {
      let who = [refused.token.map { "\($0) at" }, refused.address].compactMap(\.self).joined(separator: " ")
      let times = refused.count == 1 ? "once" : "\(refused.count) times"
      print("Refused: \(who), \(times), last \(LocalTime.text(refused.lastAt)): \(refused.reason) (\(refused.status))")
    }
    for notifier in status.notifiers ?? [] {
      print(
        "Notifier \(notifier.name): \(notifier.state), \(notifier.delivered) delivered, \(notifier.waiting) waiting")
    }
    for push in status.pushes ?? [] {
      print("Alarms are pushed (\(push.name)): \(push.state), \(push.delivered) delivered, \(push.waiting) waiting")
    }
    if status.hasOwner == false { print(Ownership.missing) }
    for alarm in status.alarms { print("ALARM: \(alarm)") }
  }

  /// `Microphone: running, Webcam, level -42.5 dB`
  private static func line(_ microphone: StatusReport.Microphone) -> String {
    let level = microphone.state == "running" ? "level \(microphone.levelDb) dB" : ""
    return line("Microphone", [microphone.state, microphone.detail, level])
  }

  /// `Speaker: running, USB Audio`: without what is not known.
  private static func line(_ what: String, _ parts: [String]) -> String {
    "\(what): \(parts.filter { !$0.isEmpty }.joined(separator: ", "))"
  }

  /// `night, brightness 4 %, infrared lamp on`; nil when there is nothing to say.
  private static func night(_ camera: StatusReport.Camera) -> String? {
    var parts: [String] = []
    if let night = camera.night { parts.append(night ? "night" : "day") }
    if let brightness = camera.brightness {
      parts.append("brightness \(Int(saturating: (brightness * 100).rounded())) %")
    }
    if let lamp = camera.infrared { parts.append("infrared lamp \(lamp)") }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  private static func duration(_ seconds: Double) -> String {
    let whole = Int(saturating: seconds)
    let parts = [(whole / 86400, "d"), (whole / 3600 % 24, "h"), (whole / 60 % 60, "min"), (whole % 60, "s")]
    let shown = parts.drop { $0.0 == 0 }.prefix(2)
    return shown.isEmpty ? "0 s" : shown.map { "\($0.0) \($0.1)" }.joined(separator: " ")
  }
}
