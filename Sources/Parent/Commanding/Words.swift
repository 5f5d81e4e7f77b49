public import Control

// The child's documents in words, a line or a few for a person each.

extension LightDocument {
  public var words: String {
    switch state {
    case .missing: return "\(id) is missing"
    case .off: return "\(id) is off"
    case .on, .flashing:
      var text = "\(id) is \(state == .on ? "on" : "flashing")"
      if dimmable { text += " at \(brightness) %" }
      if let remainingSeconds { text += ", goes out in \(Words.span(remainingSeconds))" }
      return text
    }
  }
}

extension LullabyDocument {
  public var words: String {
    let name = track ?? "the lullaby"
    switch state {
    case .stopped: return "no lullaby plays (volume \(volume) %)"
    case .playing, .paused, .waiting:
      let verb =
        switch state {
        case .paused: "is paused"
        case .waiting: "waits for the speaker"
        case .playing, .stopped: "plays"
        }
      var text = "\(name) \(verb) at \(volume) %"
      if let positionSeconds { text += ", at \(Words.span(Int(positionSeconds)))" }
      if loop { text += ", over and over" }
      if let remainingSeconds { text += ", ends in \(Words.span(remainingSeconds))" }
      return text
    }
  }
}

extension CameraDocument {
  /// Cells of a row: which one is streamed, id, state, size, name.
  public var row: [String] {
    let size = width.flatMap { width in height.map { "\(width)x\($0)" } } ?? "-"
    return [active ? "*" : " ", id, state.rawValue, size, name]
  }
}

extension TrackDocument {
  /// Cells of a row: id, title, length.
  public var row: [String] {
    [id, title, seconds.map { Words.span(Int($0)) } ?? "endless"]
  }
}

extension EventDocument {
  public var words: String {
    let parts = ([name, id].compactMap(\.self).joined(separator: " "), detail ?? "")
    let about = [parts.0, parts.1].filter { !$0.isEmpty }.joined(separator: ": ")
    let what = kind.replacing("-", with: " ")
    return "\(LocalTime.text(unixSeconds: time))  \(what)\(about.isEmpty ? "" : "  \(about)")"
  }
}

extension StatusDocument {
  /// Lines of what and how.
  public var rows: [[String]] {
    var rows = [["child", "\(name) (\(id)), version \(version), up \(Words.span(Int(uptimeSeconds)))"]]
    for alarm in alarms { rows.append(["ALARM", alarm]) }
    for camera in state.cameras ?? [] {
      let size = camera.width.flatMap { width in camera.height.map { ", \(width)x\($0)" } } ?? ""
      rows.append([
        "camera", "\(camera.id)\(camera.active ? " (streamed)" : ""): \(camera.state.rawValue)\(size), \(camera.name)",
      ])
    }
    if let microphone = state.microphone { rows.append(["microphone", microphone.words]) }
    if let speaker = state.speaker { rows.append(["speaker", speaker.words]) }
    for light in state.lights ?? [] { rows.append(["light", light.words]) }
    if let lullaby = state.lullaby { rows.append(["lullaby", lullaby.words]) }
    if let holder = state.talk?.holder { rows.append(["talk", "\(holder) is speaking"]) }
    for viewer in state.viewers ?? [] {
      rows.append(["viewer", "\(viewer.name) since \(LocalTime.text(unixSeconds: viewer.since))"])
    }
    return rows
  }
}

extension DeviceDocument {
  fileprivate var words: String { name.isEmpty ? state.rawValue : "\(state.rawValue), \(name)" }
}

/// Pieces of sentences.
public enum Words {
  /// `0:42`, `9:58`, `1:02:03`.
  public static func span(_ seconds: Int) -> String {
    let two = { (value: Int) in value < 10 ? "0\(value)" : "\(value)" }
    let seconds = max(0, seconds)
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    return hours > 0 ? "\(hours):\(two(minutes)):\(two(seconds % 60))" : "\(minutes):\(two(seconds % 60))"
  }
}
