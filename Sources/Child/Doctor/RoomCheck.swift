internal import Health
internal import Storage

/// The disks that the child writes: `check`, `doctor` and the running child look at the same.
enum RoomCheck {
  /// - Parameter space: of the file system at a path.
  static func run(
    stateDirectory: String, recording: ChildConfiguration.Recording,
    space: (String) -> DiskCheck.Space? = DiskCheck.space
  ) -> [Finding] {
    let state = DiskCheck.run(path: stateDirectory, space: space(stateDirectory))
    let own = recording.mode == .off ? nil : recording.folder
    let folder = own.map { DiskCheck.run(path: $0, space: space($0)) }
    // One disk is named once.
    let disks = [state] + [folder].compactMap(\.self).filter { $0.state != .ok && $0.state != .unknown }
    return disks + [self.recording(recording, stateDirectory, disks, space)].compactMap(\.self)
  }

  /// Nil where there is room, or where the disk is what is wrong.
  private static func recording(
    _ recording: ChildConfiguration.Recording, _ stateDirectory: String, _ disks: [Finding],
    _ space: (String) -> DiskCheck.Space?
  ) -> Finding? {
    let path = recording.folder ?? stateDirectory + "/recordings"
    let reserve = recording.reserveBytes
    guard recording.mode != .off, !disks.contains(where: { $0.state == .problem }), let free = space(path)?.free,
      free < reserve
    else { return nil }
    // The oldest parts give way. Those that nobody may list here are left out of the sum.
    let parts = (try? RecordingFolder(path: path).parts()) ?? []
    let room = parts.reduce(Int(clamping: free)) { $0.addingReportingOverflow($1.bytes).partialValue }
    guard room < reserve else { return nil }
    return Finding(
      "recordings", .problem,
      "nothing is recorded: \(free >> 20) MB are free at \(path), and recording needs \(reserve >> 20) MB",
      remedy: "Make room, or let `folder` of `record` in child.yaml name a larger disk; what is full: df -h")
  }
}

extension ChildConfiguration.Recording {
  /// What has to be free before a part begins: 256 MB for everything else, and a part at 3 Mbit/s.
  var reserveBytes: Int { (256 << 20) + partSeconds * 400_000 }
}
