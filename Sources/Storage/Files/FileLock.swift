internal import Glibc

/// Excludes other processes during a read-modify-write cycle.
public enum FileLock {
  /// Waits for the lock at `path`, then runs `body`. Creates the file if missing (0600); it remains, empty.
  ///
  /// - Throws: `FileError`, and whatever `body` throws.
  public static func hold<Result>(_ path: String, while body: () throws -> Result) throws -> Result {
    let file = try FileDescriptor(opening: path, flags: O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
    while flock(file.number, LOCK_EX) != 0 {
      guard errno == EINTR else { throw FileError.last("lock", path) }
    }
    defer { _ = flock(file.number, LOCK_UN) }
    return try body()
  }
}
