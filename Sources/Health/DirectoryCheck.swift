public import Linux

/// Whether the daemon's user may write every directory, and the files in it, that the daemon writes. interfaces/files.md, "Files".
public enum DirectoryCheck {
  /// Files of one directory that are looked at.
  private static let maximumFiles = 200

  /// - Parameters:
  ///   - directories: those that do not exist are skipped: they are made when they are needed.
  ///   - account: the user that the daemon runs as.
  /// - Returns: a problem for each directory that cannot be used; empty when all is well.
  public static func run(_ directories: [String], account: Account, files: SystemFiles) -> [Finding] {
    let name = account.name(files)
    // The system knows of access control lists, too.
    let isOwn = account.id == Account.own.id
    var readOnly: [String] = []
    var blocked: Set<String> = []
    return directories.compactMap { directory in
      if let finding = Finding.noDirectory("directory", directory, files) {
        // The same for all below it.
        return blocked.insert(finding.remedy ?? "").inserted ? finding : nil
      }
      guard let status = files.status(directory) else { return nil }
      if files.isReadOnly(directory) {
        // Named once for all below it.
        guard !readOnly.contains(where: { directory.hasPrefix($0 + "/") }) else { return nil }
        readOnly.append(directory)
        return Finding.readOnly("directory", directory)
      }
      let bad: String
      if isOwn ? !files.mayWrite(directory) : !account.mayWrite(directory: status) {
        bad = directory
      } else {
        let inside = files.names(directory).prefix(maximumFiles).map { "\(directory)/\($0)" }
        let file = inside.first { file in
          isOwn
            ? files.exists(file) && !files.mayWrite(file) : files.status(file).map { !account.mayUse($0) } ?? false
        }
        guard let file else { return nil }
        bad = file
      }
      let owner = files.status(bad).map { Account.userName($0.owner, files) } ?? "somebody else"
      return Finding(
        "directory", .problem, "\(name) cannot write \(bad), which belongs to \(owner): what belongs there is lost",
        remedy:
          "sudo chown -R \(name): '\(directory)'; sudo chmod -R u+rwX '\(directory)'; sudo systemctl restart cradle-child"
      )
    }
  }
}

extension Finding {
  /// Where something stands that is no directory in the place of one, or above it; nil where nothing does.
  static func noDirectory(_ what: String, _ path: String, _ files: SystemFiles) -> Finding? {
    var place = path[...]
    while !place.isEmpty, !files.exists(String(place)) {
      place = place[..<(place.lastIndex(of: "/") ?? place.startIndex)]
    }
    guard !place.isEmpty, !files.isDirectory(String(place)) else { return nil }
    return Finding(
      what, .problem, place == path ? "\(path) is no directory" : "\(path) cannot be made: \(place) is no directory",
      remedy: "Name another directory, or move '\(place)' away.")
  }

  /// Nobody's rights are wrong, and no other owner would help.
  static func readOnly(_ what: String, _ path: String) -> Finding {
    Finding(
      what, .problem, "\(path) is on a file system that is mounted read-only; nothing can be kept",
      remedy:
        "sudo mount -o remount,rw \"$(stat -c %m '\(path)')\" && sudo systemctl restart cradle-child. If mount refuses, "
        + "the kernel has found an error on the disk (sudo dmesg says which), and a memory card is probably dying: copy what "
        + "matters from it, and replace it. To go on with it until then: sudo systemctl stop cradle-child; sudo reboot, if "
        + "it is the system's own disk: it is checked then; else sudo umount it, sudo fsck -f "
        + "\"$(findmnt -no SOURCE -T '\(path)')\", mount it again and start cradle-child")
  }
}

extension Account {
  /// Whether it may make, rename and remove files in a directory with this status.
  public func mayWrite(directory status: SystemFiles.Status) -> Bool {
    if id == 0 { return true }
    let shift: UInt32 = status.owner == id ? 6 : groups.contains(status.group) ? 3 : 0
    return status.mode >> shift & 0o7 == 0o7
  }
}
