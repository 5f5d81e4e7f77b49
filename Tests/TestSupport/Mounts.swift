import Glibc

/// File systems that a test mounts.
public enum Mounts {
  /// Whether this process may mount one. Root of a machine may; root in a container often may not.
  public static let arePossible: Bool = {
    var path = Array("/tmp/cradle-mount-XXXXXX".utf8CString)
    guard mkdtemp(&path) != nil else { return false }
    defer { rmdir(path) }
    guard mount("tmpfs", path, "tmpfs", 0, "size=64k") == 0 else { return false }
    umount2(path, Int32(MNT_DETACH))
    return true
  }()
}
