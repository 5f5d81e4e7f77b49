internal import Glibc

/// Excludes other processes while a file is read, changed and written.
public enum FileLock {
  /// Runs `body` while this process holds the lock at `path`, for which it waits. The lock file is made when it is missing
  /// (0600) and stays, empty.
  ///
  /// - Throws: `FileError`, and what `body` throws.
  public static func hold<Result>(_ path: String, while body: () throws -> Result) throws -> Result {
    let file = try FileDescriptor(opening: path, flags: O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
    while flock(file.number, LOCK_EX) != 0 {
      guard errno == EINTR else { throw FileError.last("lock", path) }
    }
    defer { _ = flock(file.number, LOCK_UN) }
    return try body()
  }
}
