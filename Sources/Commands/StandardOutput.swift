internal import CLinux
internal import Glibc

/// Standard output, of which nothing is lost in silence.
public enum StandardOutput {
  /// Prints a line that somebody waits for: it is written at once.
  ///
  /// - Throws: `Failure` when it cannot be written, or whoever has read it has closed it.
  public static func line(_ text: String) throws(Failure) {
    print(text)
    try flush()
  }

  /// Returns when all that was printed has been written.
  ///
  /// - Throws: `Failure` when some of it could not be.
  public static func flush() throws(Failure) {
    let number = clinux_flush_output()
    guard number != 0 else { return }
    throw .failed("cannot write to standard output: \(String(cString: strerror(number)))")
  }
}
