public import Control
internal import Linux

// The child's documents as text for a person: a line or a row each.

extension LightDocument {
  public var text: String {
    switch state {
    case .missing: return "\(id) is missing"
    case .off: return "\(id) is off"
    case .on, .flashing:
      var text = "\(id) is \(state == .on ? "on" : "flashing")"
      if dimmable { text += " at \(brightness) %" }
      if let remainingSeconds { text += ", turns off in \(ElapsedTime.text(remainingSeconds))" }
      return text
    }
  }
}

extension LullabyDocument {
  public var text: String {
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
      if let positionSeconds { text += ", at \(ElapsedTime.text(positionSeconds))" }
      if loop { text += ", over and over" }
      if let remainingSeconds { text += ", ends in \(ElapsedTime.text(remainingSeconds))" }
      return text
    }
  }
}

extension HearingDocument {
  /// `heard end to end at 19:42 by Mum`.
  public var text: String {
    let at = LocalTime.text(unixSeconds: time)
    let names = (parents ?? []).joined(separator: ", ")
    let cause = speaker == .missing ? "the baby unit's speaker is missing" : "no speaker"
    let missing = unanswered.map { "; no answer from \($0.joined(separator: ", "))" } ?? ""
    let weaker = way == "noise-floor" ? " (weaker proof: the noise of the room, \(cause))" : ""
    switch state {
    case .running: return "sound check running since \(at)"
    case .heard: return "heard end to end at \(at) by \(names)\(weaker)\(missing)"
    case .notHeard:
      let own = microphone == false ? "; the baby unit's microphone did not hear its speaker" : ""
      let others = names.isEmpty ? "; nobody heard it" : "; heard by \(names)"
      return "NOT heard at \(at)\(own)\(others)\(weaker)\(missing)"
    }
  }
}

extension DrillDocument {
  /// `passed at 19:42`, and a line for each parent.
  public var text: String {
    let at = LocalTime.text(unixSeconds: time)
    let lines = parents.map { parent in
      let outcomes = [("link", parent.link), ("camera", parent.camera), ("microphone", parent.microphone)]
      let words = outcomes.compactMap { stage, outcome in outcome.map { "\(stage) \(Self.words($0))" } }
      return "\(parent.name): \(words.isEmpty ? "nothing yet" : words.joined(separator: ", "))"
    }
    let head =
      switch state {
      case .running: "runs since \(at)\(stage.map { ", now the \($0.rawValue)" } ?? "")"
      case .passed: "passed at \(at)"
      case .failed: "FAILED at \(at)"
      case .stopped: "ended before its time at \(at)"
      }
    return ([head] + lines).joined(separator: "; ")
  }

  /// For those who watch: what it means for them, or how it ended.
  public var announcement: String {
    guard state == .running else { return "fire drill: \(text)" }
    return stage == nil
      ? "a fire drill ends" : "A fire drill: the alarm will ring. Acknowledge it, as on any other night."
  }

  private static func words(_ outcome: Outcome) -> String {
    switch outcome {
    case .acknowledged: "acknowledged"
    case .rang: "rang, nobody acknowledged it"
    case .silent: "did NOT ring"
    case .left: "had stopped watching"
    }
  }
}

extension CameraDocument {
  /// `, night, infrared lamp on`; empty by day when all is well.
  fileprivate var nightText: String {
    let lamp = infrared.map { ", infrared lamp \($0.rawValue)" } ?? ""
    return night == true ? ", night\(lamp)" : infrared == .missing ? lamp : ""
  }

  /// Cells of a row: which one is streamed, id, state, size, name.
  public var row: [String] {
    let size = width.flatMap { width in height.map { "\(width)x\($0)" } } ?? "-"
    return [active ? "*" : " ", id, state.rawValue, size, title.map { "\($0) (\(name))" } ?? name]
  }
}

extension TrackDocument {
  /// Cells of a row: id, title, length.
  public var row: [String] {
    [id, title, seconds.map { ElapsedTime.text($0) } ?? "endless"]
  }
}

extension EventDocument {
  /// With its time.
  public var text: String { "\(LocalTime.text(unixSeconds: time))  \(summary)" }

  /// What happened, without its time.
  public var summary: String {
    let known = acknowledgedAt.map { "acknowledged after \(ElapsedTime.text($0 - (began ?? $0)))" }
    let since = began.map { " since \(LocalTime.text(unixSeconds: $0))" } ?? ""
    let times = count.map { "\($0) times\(since)" }
    let parts = (
      [name, id].compactMap(\.self).joined(separator: " "),
      [detail ?? known, times].compactMap(\.self).joined(separator: ", ")
    )
    let about = [parts.0, parts.1].filter { !$0.isEmpty }.joined(separator: ": ")
    let what = kind.replacing("-", with: " ")
    return "\(what)\(about.isEmpty ? "" : "  \(about)")"
  }
}

extension RecordingsDocument {
  /// `events, idle`, with what keeps it from recording.
  public var summary: String { "Recording: \(mode), \(state)" + (reason.map { ": \($0)" } ?? "") }

  /// Cells of each part: when it begins, length, size, id.
  public var rows: [[String]] {
    parts.map { part in
      [LocalTime.text(unixSeconds: part.time), ElapsedTime.text(part.seconds), "\(part.bytes / 1000) kB", part.id]
    }
  }
}

extension StatusDocument {
  /// Rows of two cells: a label and its state.
  public var rows: [[String]] {
    var rows = [["child", "\(name) (\(id)), version \(version), up \(ElapsedTime.text(uptimeSeconds))"]]
    for alarm in alarms { rows.append(["ALARM", alarm]) }
    for camera in state.cameras ?? [] {
      let size = camera.width.flatMap { width in camera.height.map { ", \(width)x\($0)" } } ?? ""
      rows.append([
        "camera",
        "\(camera.title ?? camera.id)\(camera.active ? " (streamed)" : ""): \(camera.state.rawValue)\(size), \(camera.name)\(camera.nightText)",
      ])
    }
    if let microphone = state.microphone { rows.append(["microphone", microphone.text]) }
    if let speaker = state.speaker { rows.append(["speaker", speaker.text]) }
    for light in state.lights ?? [] { rows.append(["light", light.text]) }
    if let lullaby = state.lullaby { rows.append(["lullaby", lullaby.text]) }
    if let hearing = state.hearing { rows.append(["hearing", hearing.text]) }
    if let drill = state.drill { rows.append(["drill", drill.text]) }
    if let holder = state.talk?.holder { rows.append(["talk", "\(holder) is speaking"]) }
    for viewer in state.viewers ?? [] {
      rows.append(["viewer", "\(viewer.name) since \(LocalTime.text(unixSeconds: viewer.since))"])
    }
    return rows
  }
}

extension DeviceDocument {
  fileprivate var text: String { name.isEmpty ? state.rawValue : "\(state.rawValue), \(name)" }
}
