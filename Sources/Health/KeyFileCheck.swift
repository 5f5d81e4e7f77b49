public import Linux

/// Who owns the state directory and the key files in it, and who may read them.
/// interfaces/files.md, "Files".
public enum KeyFileCheck {
  /// - Parameters:
  ///   - names: the files in it that hold keys; missing ones are skipped.
  ///   - user: the required owner; nil: the owner of the directory.
  public static func run(
    directory: String, names: [String], user: UInt32?, files: SystemFiles
  ) -> [Finding] {
    guard let folder = files.status(directory) else {
      if let finding = Finding.noDirectory("state directory", directory, files) { return [finding] }
      return files.exists(directory)
        ? [hidden(directory)] : [Finding("state directory", .ok, "\(directory) will be made at the first start")]
    }
    if let finding = Finding.noDirectory("state directory", directory, files) { return [finding] }
    let owner = user ?? folder.owner
    var findings = [finding("state directory", directory, folder, owner, mode: "700", files)].compactMap(\.self)
    var count = 0
    for name in names {
      let path = "\(directory)/\(name)"
      guard let status = files.status(path) else {
        // In a directory that may not be searched, missing files look the same as hidden ones.
        if !files.mayRead(directory) { return findings + [hidden(directory)] }
        continue
      }
      count += 1
      if let finding = finding(name, path, status, owner, mode: "600", files) { findings.append(finding) }
    }
    guard findings.isEmpty else { return findings }
    let name = Account.userName(owner, files)
    return [
      Finding(
        "state directory", .ok,
        count == 0 ? "\(directory) belongs to \(name) alone" : "\(directory) and the keys in it belong to \(name) alone"
      )
    ]
  }

  private static func hidden(_ directory: String) -> Finding {
    Finding(
      "state directory", .unknown, "this user may not look into \(directory)", remedy: "Run the doctor with sudo.")
  }

  /// Nil when all is well.
  private static func finding(
    _ what: String, _ path: String, _ status: SystemFiles.Status, _ owner: UInt32, mode: String, _ files: SystemFiles
  ) -> Finding? {
    if status.owner != owner {
      let name = Account.userName(owner, files)
      return Finding(
        what, .problem, "\(path) belongs to \(Account.userName(status.owner, files)), not to \(name)",
        remedy: "sudo chown \(name) '\(path)'")
    }
    guard status.mode & 0o077 != 0 else { return nil }
    let octal = String(status.mode, radix: 8)
    // Only a warning when others may list the directory: names of files are no secret.
    let isDirectoryToRead = mode == "700" && status.mode & 0o022 == 0
    return Finding(
      what, isDirectoryToRead ? .warning : .problem, "others may use \(path): its mode is \(octal), not \(mode)",
      remedy: "sudo chmod \(mode) '\(path)'")
  }
}
