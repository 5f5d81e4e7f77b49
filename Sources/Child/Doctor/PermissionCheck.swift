internal import DeviceNames
internal import Health
internal import Linux
internal import Storage

/// Whether the daemon's user may open the configured devices, judging by their owner, group and mode.
enum PermissionCheck {
  /// - Parameter account: the account the daemon runs as.
  static func run(_ configuration: ChildConfiguration, account: Account, files: SystemFiles) -> Finding {
    let what = "permissions"
    let name = account.name(files)
    let nodes = nodes(configuration, files)
    var refused: [(path: String, group: String)] = []
    for path in nodes {
      guard let status = files.status(path), !account.mayUse(status) else { continue }
      refused.append((path, Account.groupName(status.group, files) ?? "\(status.group)"))
    }
    guard let first = refused.first else {
      return nodes.isEmpty
        ? Finding(what, .ok, "no device that \(name) would have to open is there")
        : Finding(what, .ok, "\(name) may open \(list(nodes))")
    }
    var groups: [String] = []
    for (_, group) in refused where !groups.contains(group) { groups.append(group) }
    let detail = "\(name) may not open \(list(refused.map(\.path)))"
    // For group root and for lamps, a udev rule gives access rather than group membership.
    guard !groups.contains("root"), !first.path.hasPrefix("/sys") else {
      return Finding(
        what, .problem, detail,
        remedy: "sudo udevadm trigger   # with the rules of the package; else `ls -l \(first.path)`")
    }
    return Finding(
      what, .problem,
      "\(detail): that takes the \(groups.count == 1 ? "group" : "groups") \(groups.joined(separator: ", "))",
      remedy: "sudo usermod -aG \(groups.joined(separator: ",")) \(name) && sudo systemctl restart cradle-child")
  }

  private static func list(_ paths: [String]) -> String {
    paths.count > 4
      ? paths.prefix(3).joined(separator: ", ") + " and \(paths.count - 3) more" : paths.joined(separator: ", ")
  }

  /// The device nodes that exist.
  private static func nodes(_ configuration: ChildConfiguration, _ files: SystemFiles) -> [String] {
    var result: [String] = []
    for node in configuration.cameras.flatMap(\.device.nodes) {
      guard node.last == "*", let slash = node.lastIndex(of: "/") else {
        result.append(node)
        continue
      }
      let (folder, beginning) = (node[..<slash], node[slash...].dropFirst().dropLast())
      result += files.names(String(folder)).filter { $0.hasPrefix(beginning) }.map { "\(folder)/\($0)" }
    }
    let wantsMicrophone = configuration.microphone.device == .auto || configuration.microphone.device.isPCM
    let wantsSpeaker = configuration.speaker.device == .auto || configuration.speaker.device.isPCM
    if wantsMicrophone || wantsSpeaker {
      result += files.names("/dev/snd").filter { $0.hasPrefix("pcm") || $0.hasPrefix("control") }.map {
        "/dev/snd/\($0)"
      }
    }
    for device in configuration.lights.map(\.device) + configuration.cameras.map(\.infrared) {
      switch device {
      case .gpio(let chip, _, _): result.append(chip)
      case .led(let path): result.append("\(path)/brightness")
      case .off, .simulated: break
      }
    }
    var there: [String] = []
    for path in result where files.exists(path) && !there.contains(path) { there.append(path) }
    return there
  }
}

extension AudioDevice {
  fileprivate var isPCM: Bool { if case .pcm = self { true } else { false } }
}

extension SpeakerDevice {
  fileprivate var isPCM: Bool { if case .pcm = self { true } else { false } }
}
