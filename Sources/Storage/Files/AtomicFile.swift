internal import Glibc

/// A small file that is replaced atomically: after a power cut it has either the old content or the new, never a
/// mixture. There must be only one writer at a time; across processes, `StateDirectory`'s lock ensures that.
public struct AtomicFile: Sendable, Hashable {
  public let path: String
  /// Permission bits of the written file.
  public let mode: UInt32
  /// Who writes what `replace` is given; nil: the caller.
  let writer: FileWriter?

  public init(path: String, mode: UInt32 = 0o600, writer: FileWriter? = nil) {
    self.path = path
    self.mode = mode
    self.writer = writer
  }

  public static func == (one: AtomicFile, other: AtomicFile) -> Bool {
    one.path == other.path && one.mode == other.mode
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(path)
    hasher.combine(mode)
  }

  /// In bytes; far more than any store needs.
  public static let maximumBytes = 4 << 20

  /// The whole content, without the byte order mark that some editors put in front of UTF-8; nil if there is no such file.
  /// Anything but a regular file is refused.
  /// - Parameter maximum: Larger files are refused with `EFBIG`.
  public func read(maximum: Int = AtomicFile.maximumBytes) throws(FileError) -> [UInt8]? {
    let file: FileDescriptor
    do throws(FileError) {
      file = try FileDescriptor.readingFile(path)
    } catch  where error.code == ENOENT {
      return nil
    }
    return try file.readAll(maximum: maximum).withoutByteOrderMark
  }

  /// Replaces the content, on the thread of the file's writer if it has one: then nothing is thrown, and `whenWritten` says
  /// what came of it.
  ///
  /// - Parameter removes: somebody's access: on a full disk the `SpaceReserve` is used.
  public func replace(_ bytes: [UInt8], removes: Bool = false) throws(FileError) {
    if let writer { writer.write(bytes, to: self, removes: removes) } else { try write(bytes, removes: removes) }
  }

  /// Calls `completion` when the content that was given last is on disk, or cannot be: on the writer's thread or at once.
  public func whenWritten(_ completion: @escaping @Sendable (FileError?) -> Void) {
    if let writer { writer.whenWritten(self, completion) } else { completion(nil) }
  }

  /// Replaces the content: writes a temporary file beside it, syncs, renames, syncs the directory.
  public func write(_ bytes: [UInt8]) throws(FileError) {
    try write(bytes) { Self.injectedFault?($0) }
  }

  /// - Parameter removes: as for `replace`.
  func write(_ bytes: [UInt8], removes: Bool) throws(FileError) {
    do throws(FileError) {
      try write(bytes)
    } catch {
      let reserve = SpaceReserve(directory: Self.split(path).directory)
      guard removes, error.code == ENOSPC || error.code == EDQUOT, reserve.release() else { throw error }
      defer { reserve.make() }
      try write(bytes)
    }
  }

  // MARK: - Steps of a write

  enum Step: Hashable, Sendable {
    case createTemporary
    /// Before the bytes from this offset on.
    case write(offset: Int)
    case syncFile
    case rename
    case syncDirectory
  }

  /// A fault that a test injects instead of a step.
  enum Fault: Sendable {
    /// The step fails with this `errno`.
    case fails(Int32)
    /// The power fails: nothing more happens, and nothing is cleaned up.
    case powerCut
  }

  /// For tests of the stores: applies to every write within the task.
  @TaskLocal static var injectedFault: (@Sendable (Step) -> Fault?)?

  /// Content is written in chunks of this many bytes.
  static let pieceSize = 4096

  /// In the same directory, so that the rename stays on one file system. A crash leaves at most this file behind.
  var temporaryPath: String {
    let (directory, name) = Self.split(path)
    return "\(directory)/.\(name).tmp"
  }

  func write(_ bytes: [UInt8], fault: (Step) -> Fault?) throws(FileError) {
    let temporary = temporaryPath
    var mayTidyUp = true
    func begin(_ step: Step, _ operation: String) throws(FileError) {
      switch fault(step) {
      case nil: return
      case .fails(let code): throw FileError(operation: operation, path: temporary, code: code)
      case .powerCut:
        mayTidyUp = false
        throw FileError(operation: operation, path: temporary, code: EIO)
      }
    }
    do throws(FileError) {
      try begin(.createTemporary, "create")
      // An earlier crash may have left one. It is removed, not reused: it may be open elsewhere, or be a link.
      // On a read-only file system unlink(2) fails for a file that does not exist, too.
      if unlink(temporary) != 0, errno != ENOENT, errno != EROFS { throw .last("remove", temporary) }
      let file = try FileDescriptor(opening: temporary, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
      file.belong(toOwnerOf: Self.split(path).directory)
      // open(2) applies the umask; this mode is exact.
      guard fchmod(file.number, mode) == 0 else { throw .last("set the mode of", temporary) }
      for offset in stride(from: 0, to: bytes.count, by: Self.pieceSize) {
        try begin(.write(offset: offset), "write")
        try file.writeAll(bytes[offset..<min(bytes.count, offset + Self.pieceSize)])
      }
      try begin(.syncFile, "sync")
      try file.synchronize()
      try begin(.rename, "rename")
      guard Glibc.rename(temporary, path) == 0 else { throw .last("rename", temporary) }
    } catch {
      if mayTidyUp { unlink(temporary) }
      throw error
    }
    try begin(.syncDirectory, "sync")
    try FileDescriptor(opening: Self.split(path).directory, flags: O_RDONLY | O_DIRECTORY).synchronize()
  }

  static func split(_ path: String) -> (directory: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let directory = slash == path.startIndex ? "/" : String(path[..<slash])
    return (directory, String(path[path.index(after: slash)...]))
  }
}
