internal import Glibc

/// A file operation that failed.
public struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// "open", "rename" and so on.
  public let operation: String
  public let path: String
  /// `errno`.
  public let code: Int32
  /// What is wrong, where `code` would not say it.
  public var explanation: String?

  /// From the calling thread's `errno`.
  static func last(_ operation: String, _ path: String) -> FileError {
    FileError(operation: operation, path: path, code: errno)
  }

  /// What went wrong, without the path: `No space left on device`.
  public var reason: String { explanation ?? String(cString: strerror(code)) }

  /// `cannot rename /var/lib/cradle/tokens.json: No space left on device. Make room; what is full: df -h`
  public var description: String {
    "cannot \(operation) \(path): \(reason)" + (advice.map { ". \($0)" } ?? "")
  }

  /// What to do about it, if that follows from the error.
  private var advice: String? {
    switch code {
    case EACCES, EPERM: "Use sudo, or look who owns it: ls -ld \(path)"
    case ENOSPC, EDQUOT: "Make room; what is full: df -h"
    case EROFS: "The file system is read-only, often because the memory card fails: dmesg says why"
    default: nil
    }
  }
}

/// Owns a file descriptor.
struct FileDescriptor: ~Copyable {
  let number: Int32
  let path: String

  init(opening path: String, flags: Int32, mode: UInt32 = 0) throws(FileError) {
    let number = open(path, flags | O_CLOEXEC, mode)
    guard number >= 0 else { throw .last("open", path) }
    self.number = number
    self.path = path
  }

  /// Opens a file for reading, and nothing else: a FIFO or a device could keep the reader waiting, or never end.
  static func readingFile(_ path: String) throws(FileError) -> FileDescriptor {
    // Not blocking: opening a FIFO would wait for a writer. For a file it makes no difference (open(2)).
    let file = try FileDescriptor(opening: path, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY)
    try file.checkIsFile()
    return file
  }

  private func checkIsFile() throws(FileError) {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw .last("examine", path) }
    let kind = FileKind(status)
    guard kind == .regular else {
      throw FileError(
        operation: "read", path: path, code: kind == .directory ? EISDIR : EINVAL,
        explanation: "it is \(kind.words), and a regular file is needed")
    }
  }

  deinit {
    close(number)
  }

  /// Reads to the end of the file; throws `EFBIG` if it exceeds `maximum` bytes.
  func readAll(maximum: Int) throws(FileError) -> [UInt8] {
    var result: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16384)
    while true {
      let count = Glibc.read(number, &buffer, buffer.count)
      if count < 0 {
        if errno == EINTR { continue }
        throw .last("read", path)
      }
      if count == 0 { return result }
      guard result.count + count <= maximum else { throw FileError(operation: "read", path: path, code: EFBIG) }
      result += buffer[..<count]
    }
  }

  func writeAll(_ bytes: ArraySlice<UInt8>) throws(FileError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR { continue }
        throw .last("write", path)
      }
      rest = rest.dropFirst(count)
    }
  }

  func synchronize() throws(FileError) {
    guard fsync(number) == 0 else { throw .last("sync", path) }
  }

  /// If root created the file, gives it to the directory's owner. Otherwise the service could not read its own files
  /// after somebody has run `sudo cradle-child run` once.
  func belong(toOwnerOf directory: String) {
    var status = stat()
    guard geteuid() == 0, stat(directory, &status) == 0 else { return }
    _ = fchown(number, status.st_uid, status.st_gid)
  }

  /// The permission bits.
  func mode() throws(FileError) -> UInt32 {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw .last("examine", path) }
    return status.st_mode & 0o7777
  }
}
