internal import Glibc

/// Why a recording cannot be begun or go on.
public enum WebMError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The disk, or the user's share of it, is full.
  case diskFull
  /// The file system takes no larger file (FAT: 4 GiB).
  case fileTooLarge
  /// A file of that name is there; a recording never overwrites one.
  case exists(path: String)
  /// Any other refusal of the system: what was tried, and errno.
  case io(operation: String, errno: Int32)

  public var description: String {
    switch self {
    case .diskFull: "the disk is full"
    case .fileTooLarge: "the file system takes no larger file"
    case .exists(let path): "\(path) exists already"
    case .io(let operation, let number): "\(operation): \(String(cString: strerror(number)))"
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

/// Where a recording goes. Used by one writer at a time.
public protocol WebMFile: AnyObject {
  /// All of the bytes at the end, or none of them.
  func append(_ bytes: [UInt8]) throws(WebMError)
  /// In place of bytes that are there already.
  func overwrite(_ bytes: [UInt8], at offset: Int) throws(WebMError)
  /// Cuts the end off.
  func truncate(to count: Int) throws(WebMError)
  /// Returns when everything is on the disk.
  func synchronize() throws(WebMError)
}

/// A file on disk, readable for its owner alone; closed when its owner goes. Calls block as long as the disk does.
public final class WebMDiskFile: WebMFile {
  private let descriptor: Int32
  private var count = 0

  /// Makes the file; `exists` if there is one of that name.
  public init(path: String) throws(WebMError) {
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw errno == EEXIST ? .exists(path: path) : .system(errno, "open \(path)") }
  }

  deinit { close(descriptor) }

  public func append(_ bytes: [UInt8]) throws(WebMError) {
    do throws(WebMError) {
      try write(bytes, at: count)
    } catch {
      // A disk that is nearly full takes a part; the file must end where the element before does.
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
    // Pipes and some network file systems know no sync; nothing more can be done there.
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
