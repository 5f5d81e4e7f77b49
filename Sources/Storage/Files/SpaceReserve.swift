internal import Glibc
internal import Linux

/// A file that holds nothing but room. A file is replaced by a new one beside it, which needs room even where it is shorter:
/// on a full disk nobody could be removed. So what removes somebody may use this room, and gives it back.
struct SpaceReserve: Sendable {
  static let name = "reserve"
  /// The largest file that it is for has 64 pair records of 0.5 kB each; most have a few. Where there is no room for all of it,
  /// as on a full disk after it was used, less has to do until there is.
  private static let sizes: [off_t] = [64 * 1024, 32 * 1024, 16 * 1024, 8 * 1024]

  private let path: String

  /// - Parameter directory: that of the files that it is for.
  init(directory: String) {
    path = "\(directory)/\(Self.name)"
  }

  /// Takes the room, as far as it is there. What it has is kept.
  func make() {
    let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    for bytes in Self.sizes where posix_fallocate(file, 0, bytes) == 0 {
      // A larger try may have left some blocks behind it.
      _ = ftruncate(file, bytes)
      return FileOwner.adopt(path)
    }
    // Less is of no use, and on a full disk in everybody's way.
    unlink(path)
  }

  /// Gives the room free. False if there was none.
  func release() -> Bool { unlink(path) == 0 }
}
