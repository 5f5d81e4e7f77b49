internal import DeviceNames
internal import Devices
internal import Health
internal import Linux

/// Checks microphone and speaker: by the daemon's report, else by opening them once. Plays nothing.
enum SoundCheck {
  static func microphone(_ device: AudioDevice, daemon: RunningDaemon, user: String) -> Finding {
    let what = "microphone"
    if device == .off { return Finding(what, .ok, "none is wanted") }
    if let known = daemon.report?.microphone, known.device == "\(device)" { return finding(known) }
    do throws(DeviceError) {
      return try opened(device)
    } catch {
      return DeviceTrouble.finding(what, .problem, error, daemon: daemon, user: user)
    }
  }

  /// Opens it, and listens until it is known how many samples a second it delivers.
  static func opened(_ device: AudioDevice) throws(DeviceError) -> Finding {
    let info = try ReadinessCheck.info(of: device)
    guard info.measuredRate != nil || !device.isDevice else {
      return Finding(
        "microphone", .unknown, "\(info.words). How many samples a second it delivers could not be measured",
        remedy: "Try again when this machine has less to do.")
    }
    return finding(info.words, info.remarks)
  }

  private static func finding(_ words: String, _ remarks: [String]) -> Finding {
    guard !remarks.isEmpty else { return Finding("microphone", .ok, words) }
    return Finding(
      "microphone", .warning, words.followed(by: remarks),
      remedy: "It works as it is. Another microphone would sound better.")
  }

  /// From the report of the daemon, which has the microphone open.
  static func finding(_ microphone: StatusReport.Microphone) -> Finding {
    let what = "microphone"
    switch microphone.state {
    case "running":
      return finding(
        "\(microphone.detail), level \(microphone.levelDb) dB, in use by the daemon", microphone.remarks ?? [])
    case "missing": return Finding(what, .problem, microphone.detail, remedy: "cradle-child devices")
    default: return Finding(what, .warning, "the daemon is still opening it", remedy: "cradle-child status")
    }
  }

  static func speaker(
    _ device: SpeakerDevice, daemon: RunningDaemon, user: String, files: SystemFiles
  ) -> Finding {
    let what = "speaker"
    if let known = daemon.report?.speaker, known.device == "\(device)" { return finding(known, device) }
    do throws(DeviceError) {
      return Finding(what, .ok, try words(opening: device))
    } catch {
      if error.reason == .busy, let process = daemon.process, isPlaying(process, files) {
        return Finding(what, .ok, "in use by the daemon")
      }
      let state = state(of: error, device)
      guard case .file = device else {
        return DeviceTrouble.finding(what, state, error, daemon: daemon, user: user)
      }
      return Finding(what, state, error.plain, remedy: fileRemedy)
    }
  }

  /// From the report of the daemon, which has the speaker open.
  static func finding(_ speaker: StatusReport.Speaker, _ device: SpeakerDevice) -> Finding {
    let what = "speaker"
    switch (speaker.state, device) {
    case ("off", _): return Finding(what, .ok, none)
    case ("running", .null): return Finding(what, .ok, nowhere)
    case ("running", .file(let path)): return Finding(what, .ok, "\(goesTo(path)), in use by the daemon")
    case ("running", _): return Finding(what, .ok, "\(speaker.detail), in use by the daemon")
    case ("missing", .file): return Finding(what, .problem, speaker.detail, remedy: fileRemedy)
    case ("missing", .auto): return Finding(what, .warning, speaker.detail, remedy: "cradle-child devices")
    case ("missing", _): return Finding(what, .problem, speaker.detail, remedy: "cradle-child devices")
    default: return Finding(what, .warning, "the daemon is still opening it", remedy: "cradle-child status")
    }
  }

  /// Opens the speaker and closes it again. A file is not opened: that would empty it.
  ///
  /// - Returns: what it is.
  static func words(opening device: SpeakerDevice) throws(DeviceError) -> String {
    switch device {
    case .off: return none
    case .null: return nowhere
    case .file(let path):
      try Speakers.check(file: path)
      return goesTo(path)
    case .auto, .pcm:
      let speaker = try Speakers.open(device) { _, _ in }
      speaker.stop()
      return "\(speaker.info.name) (\(speaker.info.device))"
    }
  }

  /// Without a speaker, a child still sends picture, sound and the state of the room.
  static func state(of error: DeviceError, _ device: SpeakerDevice) -> Finding.State {
    device == .auto && error.reason == .notFound ? .warning : .problem
  }

  private static let none = "none is wanted"
  private static let nowhere = "what is played goes nowhere, as configured"
  private static let fileRemedy = "Name a regular file, in a folder that exists, as `speaker` in child.yaml."
  private static func goesTo(_ path: String) -> String { "what is played goes to \(path)" }

  /// Whether a thread of the process has a playback device open: /proc/asound/cardN/pcmNp/subN/status.
  static func isPlaying(_ process: Int, _ files: SystemFiles) -> Bool {
    let base = "/proc/asound"
    for card in files.names(base) where card.hasPrefix("card") && card != "cards" {
      for device in files.names("\(base)/\(card)") where device.hasPrefix("pcm") && device.hasSuffix("p") {
        for part in files.names("\(base)/\(card)/\(device)") where part.hasPrefix("sub") {
          for words in files.words("\(base)/\(card)/\(device)/\(part)/status") where words.first == "owner_pid" {
            if files.exists("/proc/\(process)/task/\(words.last ?? "")") { return true }
          }
        }
      }
    }
    return false
  }
}
