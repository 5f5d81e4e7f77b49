internal import Glibc

/// Free space for the state directory: pairs and tokens are small, but on a full disk the next one is lost.
public enum DiskCheck {
  /// Space of a file system, in bytes.
  public struct Space: Sendable {
    /// For users other than root.
    public var free: UInt64
    public var total: UInt64
    public var isReadOnly: Bool
  }

  /// The space at a directory, or at the nearest one above it that exists: statvfs(3).
  public static func space(at path: String) -> Space? {
    var path = path
    var status = statvfs()
    while statvfs(path, &status) != 0 {
      guard errno == ENOENT, path != "/", let slash = path.lastIndex(of: "/") else { return nil }
      path = slash == path.startIndex ? "/" : String(path[..<slash])
    }
    let unit = UInt64(status.f_frsize)
    return Space(
      free: UInt64(status.f_bavail) * unit, total: UInt64(status.f_blocks) * unit,
      isReadOnly: status.f_flag & UInt(ST_RDONLY) != 0)
  }

  /// Logs and updates of a small system need this much within days.
  private static let little: UInt64 = 200 << 20
  /// Enough to rewrite every store once while systemd keeps logging.
  private static let tooLittle: UInt64 = 16 << 20

  public static func run(path: String, space: Space?) -> Finding {
    guard let space else {
      return Finding("disk", .unknown, "the system does not say how much is free at \(path)", remedy: "df -h")
    }
    if space.isReadOnly {
      return Finding.readOnly("disk", path)
    }
    let text = "\(amount(space.free)) of \(amount(space.total)) free at \(path)"
    if space.free < tooLittle {
      return Finding(
        "disk", .problem, "the disk is full: \(text)", remedy: "sudo journalctl --vacuum-size=50M; sudo apt clean")
    }
    if space.free < little {
      return Finding("disk", .warning, text, remedy: "sudo journalctl --vacuum-size=50M; sudo apt clean")
    }
    return Finding("disk", .ok, text)
  }

  private static func amount(_ bytes: UInt64) -> String {
    if bytes >= 10 << 30 { return "\(bytes >> 30) GB" }
    return bytes >= 1 << 20 ? "\(bytes >> 20) MB" : "\(bytes >> 10) kB"
  }
}
