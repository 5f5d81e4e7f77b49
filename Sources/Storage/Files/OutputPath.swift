internal import Glibc

/// A path that a person has given for output. It decides how that is written:
///
/// - `-`, `/dev/stdout` and other names of standard output: to standard output.
/// - A FIFO, a pipe, a socket or a device: through it. It is never replaced, renamed over or removed.
/// - A file, or a name that is free: beside it first, then in its place, so that it is whole or as it was.
/// - A directory, a disk, a terminal: refused. A picture on a terminal could send it commands.
public struct OutputPath: Hashable, Sendable {
  public let path: String

  public init(_ path: String) {
    self.path = path
  }

  /// How it is written.
  enum Way: Hashable {
    case standardOutput
    /// Opened and written through.
    case stream
    case file
  }

  /// Whether it is standard output, where nothing else may be printed then.
  public var isStandardOutput: Bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(path)
  }

  /// For people.
  var name: String { isStandardOutput ? "standard output" : path }

  /// Whether it is written through and cannot be sought in.
  ///
  /// - Throws: `FileError` for what is refused.
  public func isStream() throws(FileError) -> Bool { try way() != .file }

  /// Says early what would fail at the end.
  ///
  /// - Throws: `FileError` for what is refused, and where no file can be made.
  public func check() throws(FileError) {
    guard try way() == .file else { return }
    let directory = AtomicFile.split(path).directory
    guard access(directory, W_OK | X_OK) == 0 else { throw .last("write", path) }
  }

  /// Writes the whole content.
  ///
  /// - Parameter mode: permission bits of a file that is made. 0600: a picture of a child is private.
  public func write(_ bytes: [UInt8], mode: UInt32 = 0o600) throws(FileError) {
    guard try way() == .file else {
      let stream = OutputStream(self)
      try stream.write(bytes)
      return
    }
    do throws(FileError) {
      try AtomicFile(path: path, mode: mode).write(bytes)
    } catch {
      // The temporary file's name would say nothing to whoever gave this one.
      throw FileError(operation: "write", path: path, code: error.code, explanation: error.explanation)
    }
  }

  func way() throws(FileError) -> Way {
    guard !path.isEmpty else {
      throw FileError(operation: "write", path: "\"\"", code: ENOENT, explanation: "it has no name")
    }
    if isStandardOutput {
      if isatty(STDOUT_FILENO) == 1 {
        throw refusal("it is a terminal; name a file, or a program behind a |")
      }
      return .standardOutput
    }
    var status = stat()
    guard stat(path, &status) == 0 else {
      // Free, or not to be reached: then writing says why.
      if path.last == "/" { throw FileError(operation: "write", path: path, code: EISDIR) }
      return .file
    }
    switch FileKind(status) {
    case .regular: return isDescriptor ? .stream : .file
    case .directory: throw FileError(operation: "write", path: path, code: EISDIR)
    case .blockDevice: throw refusal("it is a disk")
    case .fifo, .characterDevice, .socket: return .stream
    }
  }

  private func refusal(_ reason: String) -> FileError {
    FileError(operation: "write", path: name, code: EINVAL, explanation: reason)
  }

  /// Whether it names an open file of a process (`/dev/fd/3`): nothing can be put in its place. proc(5).
  private var isDescriptor: Bool {
    var name = path
    for _ in 0..<8 {
      guard let directory = realpath(AtomicFile.split(name).directory, nil) else { return false }
      defer { free(directory) }
      if String(cString: directory).hasPrefix("/proc/") { return true }
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = bytes.withUnsafeMutableBytes { buffer in
        buffer.bindMemory(to: CChar.self).baseAddress.map { readlink(name, $0, buffer.count) } ?? -1
      }
      guard count > 0 else { return false }
      let target = String(decoding: bytes[..<count], as: UTF8.self)
      name = target.hasPrefix("/") ? target : "\(String(cString: directory))/\(target)"
    }
    return false
  }
}
