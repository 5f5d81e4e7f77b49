internal import Control
internal import DeviceNames
internal import Health
internal import Storage

/// Whether the baby unit has what `schedule` is about: else each evening fails again.
enum ScheduleCheck {
  static func run(_ configuration: ChildConfiguration) -> [Finding] {
    var reasons: [String] = []
    for entry in configuration.schedule {
      let time = "at \(ScheduledDocument(entry).at)"
      let reason: String? =
        switch entry.action {
        case .camera: configuration.cameras.isEmpty ? "there is no camera" : nil
        case .light: configuration.lights.allSatisfy { $0.device == .off } ? "there is no light" : nil
        case .lullaby where configuration.speaker.device == .off: "there is no speaker"
        case .lullaby(let wanted):
          wanted.track.flatMap { track in
            LullabyLibrary(folder: configuration.lullabies).track(track) == nil ? "no lullaby is called \(track)" : nil
          }
        case .lullabyStop: nil
        }
      if let reason { reasons.append("\(time) \(reason)") }
    }
    guard !reasons.isEmpty else { return [] }
    return [
      Finding(
        "schedule", .problem, reasons.joined(separator: "; "),
        remedy: "Look at `schedule` in child.yaml; lullabies are listed by: cradle-parent lullaby list")
    ]
  }
}
