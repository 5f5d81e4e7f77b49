internal import Glibc

/// A file that is written piece by piece, mode 0600, under a name of its own until it is whole: `NAME.part`. One that is
/// given up is removed.
final class PartialFile {
  private let path: String
  private let temporary: String
  private let file: FileDescriptor
  private var isWhole = false

  init(path: String) throws(FileError) {
    self.path = path
    temporary = path + ".part"
    // One that was killed may have left it.
    if unlink(temporary) != 0, errno != ENOENT { throw .last("remove", temporary) }
    file = try FileDescriptor(opening: temporary, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
  }

  deinit {
    if !isWhole { unlink(temporary) }
  }

  func append(_ bytes: [UInt8]) throws(FileError) {
    try file.writeAll(bytes[...])
  }

  /// Gives it its name, in place of a file that has it.
  func finish() throws(FileError) {
    try file.synchronize()
    guard rename(temporary, path) == 0 else { throw .last("rename", temporary) }
    isWhole = true
  }
}
