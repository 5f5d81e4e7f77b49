internal import Glibc

/// Why a recording cannot be started or continued.
public enum WebMError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The disk or the user's quota is full.
  case diskFull
  /// The file system's size limit is reached (FAT: 4 GiB).
  case fileTooLarge
  /// The file exists already; a recording never overwrites one.
  case exists(path: String)
  /// Any other system error: the operation that failed, and errno.
  case io(operation: String, errno: Int32)
  /// What it is written through takes no more, for this reason.
  case stream(reason: String)

  public var description: String {
    switch self {
    case .diskFull: "the disk is full"
    case .fileTooLarge: "the file system takes no larger file"
    case .exists(let path): "\(path) exists already"
    case .io(let operation, let number): "\(operation): \(String(cString: strerror(number)))"
    case .stream(let reason): reason
    }
  }

  static func system(_ number: Int32, _ operation: String) -> WebMError {
    switch number {
    case ENOSPC, EDQUOT: .diskFull
    case EFBIG: .fileTooLarge
    default: .io(operation: operation, errno: number)
    }
  }
}

/// The output of a recording. Used by one writer at a time.
public protocol WebMFile: AnyObject {
  /// False for a pipe and the like, where nothing is overwritten or truncated: the recording then has neither sizes nor a
  /// duration nor cues, as a live one.
  var isSeekable: Bool { get }
  /// Appends all of the bytes, or none of them.
  func append(_ bytes: [UInt8]) throws(WebMError)
  /// Overwrites existing bytes.
  func overwrite(_ bytes: [UInt8], at offset: Int) throws(WebMError)
  /// Truncates the file.
  func truncate(to count: Int) throws(WebMError)
  /// Returns when all data is on the disk.
  func synchronize() throws(WebMError)
  /// The recording is to end: whoever does not take what is left is not waited for. From any thread.
  func hurry()
}

extension WebMFile {
  public var isSeekable: Bool { true }
  public func hurry() {}
}

/// A file on disk with mode 0600; closed at deinit. Calls block on disk I/O.
public final class WebMDiskFile: WebMFile {
  private let descriptor: Int32
  private var count = 0

  /// Creates the file; throws `exists` if there is one already.
  public init(path: String) throws(WebMError) {
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw errno == EEXIST ? .exists(path: path) : .system(errno, "open \(path)") }
  }

  deinit { close(descriptor) }

  public func append(_ bytes: [UInt8]) throws(WebMError) {
    do throws(WebMError) {
      try write(bytes, at: count)
    } catch {
      // A nearly full disk accepts a part; the file must end at the end of the previous element.
      ftruncate(descriptor, off_t(count))
      throw error
    }
    count += bytes.count
  }

  public func overwrite(_ bytes: [UInt8], at offset: Int) throws(WebMError) {
    precondition(offset + bytes.count <= count, "only what is there can be overwritten")
    try write(bytes, at: offset)
  }

  public func truncate(to count: Int) throws(WebMError) {
    guard ftruncate(descriptor, off_t(count)) == 0 else { throw .system(errno, "truncate") }
    self.count = count
  }

  public func synchronize() throws(WebMError) {
    // Pipes and some network file systems do not support fsync; nothing more can be done there.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw .system(errno, "sync") }
  }

  private func write(_ bytes: [UInt8], at offset: Int) throws(WebMError) {
    var done = 0
    while done < bytes.count {
      let written = bytes.withUnsafeBytes { buffer in
        pwrite(descriptor, buffer.baseAddress! + done, buffer.count - done, off_t(offset + done))
      }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw .system(written < 0 ? errno : ENOSPC, "write") }
      done += written
    }
  }
}
