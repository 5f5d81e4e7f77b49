internal import Glibc
public import Linux

/// A user of the machine, with the groups that decide what it may open.
public struct Account: Hashable, Sendable {
  public var id: UInt32
  /// Unordered.
  public var groups: [UInt32]

  public init(id: UInt32, groups: [UInt32]) {
    self.id = id
    self.groups = groups
  }

  /// The one of this process.
  public static var own: Account {
    var groups = [gid_t](repeating: 0, count: 256)
    let count = max(0, Int(getgroups(256, &groups)))
    return Account(id: geteuid(), groups: groups[..<count] + [getegid()])
  }

  /// The one that a daemon with this state directory would run as: ours, or, where we are root, who may do more, the
  /// directory's owner.
  public static func daemon(_ stateDirectory: String, _ files: SystemFiles) -> Account {
    let own = Account.own
    guard own.id == 0, let owner = files.status(stateDirectory)?.owner, owner != 0 else { return own }
    return Account(id: owner, files: files) ?? Account(id: owner, groups: [])
  }

  /// The one of a running process (proc_pid_status(5)); nil when there is no such process.
  public init?(process: Int, files: SystemFiles) {
    var id: UInt32?
    var groups: [UInt32] = []
    for fields in files.words("/proc/\(process)/status") {
      // Real, effective, saved, file system.
      if fields.first == "Uid:", fields.count > 2 { id = UInt32(fields[2]) }
      if fields.first == "Gid:" || fields.first == "Groups:" {
        groups += fields.dropFirst().compactMap { UInt32($0) }
      }
    }
    guard let id else { return nil }
    self.init(id: id, groups: groups)
  }

  /// As it would log in, from passwd(5) and group(5). Nil when it is not listed there.
  public init?(id: UInt32, files: SystemFiles) {
    guard let entry = Self.entry("/etc/passwd", id, files), entry.count > 3, let main = UInt32(entry[3]) else {
      return nil
    }
    let others = files.lines("/etc/group").compactMap { line -> UInt32? in
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      guard fields.count > 3, fields[3].split(separator: ",").contains(entry[0]) else { return nil }
      return UInt32(fields[2])
    }
    self.init(id: id, groups: others + [main])
  }

  /// Its name.
  public func name(_ files: SystemFiles) -> String { Self.userName(id, files) }

  public static func userName(_ id: UInt32, _ files: SystemFiles) -> String {
    if id == 0 { return "root" }
    return entry("/etc/passwd", id, files).map { String($0[0]) } ?? "user \(id)"
  }

  public static func groupName(_ id: UInt32, _ files: SystemFiles) -> String? {
    entry("/etc/group", id, files).map { String($0[0]) }
  }

  /// The entry with this number, which is the third field in both files.
  private static func entry(_ path: String, _ id: UInt32, _ files: SystemFiles) -> [Substring]? {
    for line in files.lines(path) {
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      if fields.count > 2, UInt32(fields[2]) == id { return fields }
    }
    return nil
  }

  /// Whether it may read and write a file with this status. Considers owner, group and others, not access control lists.
  public func mayUse(_ status: SystemFiles.Status) -> Bool {
    if id == 0 { return true }
    let shift: UInt32 = status.owner == id ? 6 : groups.contains(status.group) ? 3 : 0
    return status.mode >> shift & 0o6 == 0o6
  }
}
