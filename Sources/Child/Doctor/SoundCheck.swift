internal import DeviceNames
internal import Devices
internal import Health
internal import Linux
internal import Storage

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
    switch device {
    case .off: return Finding(what, .ok, "none is wanted")
    case .null: return Finding(what, .ok, "what is played goes nowhere, as configured")
    // Opening the file would truncate it.
    case .file(let path): return Finding(what, .ok, "what is played goes to \(path)")
    case .auto, .pcm: break
    }
    do throws(DeviceError) {
      let speaker = try Speakers.open(device) { _, _ in }
      speaker.stop()
      return Finding(what, .ok, "\(speaker.info.name) (\(speaker.info.device))")
    } catch {
      if error.reason == .busy, let process = daemon.process, isPlaying(process, files) {
        return Finding(what, .ok, "in use by the daemon")
      }
      // Without a speaker, a child still sends picture, sound and the state of the room.
      let state: Finding.State = device == .auto && error.reason == .notFound ? .warning : .problem
      return DeviceTrouble.finding(what, state, error, daemon: daemon, user: user)
    }
  }

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
