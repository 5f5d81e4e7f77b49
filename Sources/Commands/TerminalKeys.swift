internal import CLinux
internal import Glibc
internal import Linux
internal import Synchronization

/// Reads keys of the terminal on standard input one by one, without showing them. Make one for each process.
///
/// The terminal is as it was before whenever the process is stopped or ends, by whatever but SIGKILL.
public final class TerminalKeys: Sendable {
  private let isClosed = Atomic<Bool>(false)

  /// Nil where standard input is no terminal.
  ///
  /// - Parameter handle: called on a thread of its own. Arrows and other keys that send more than one character are left
  ///   out.
  public init?(handle: @escaping @Sendable (Character) -> Void) {
    guard isatty(STDIN_FILENO) == 1, clinux_terminal_read_single_keys() == 0 else { return nil }
    _ = WorkerThread(name: "keys") { [self] in
      while !isClosed.load(ordering: .relaxed) {
        if let key = Self.next() { handle(key) }
      }
    }
  }

  /// Gives the terminal back.
  public func close() {
    isClosed.store(true, ordering: .relaxed)
    clinux_terminal_read_lines()
  }

  /// Waits a moment at most.
  private static func next() -> Character? {
    var descriptor = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    guard poll(&descriptor, 1, 250) > 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = read(STDIN_FILENO, &bytes, bytes.count)
    guard count > 0 else {
      // In the background, or the terminal has gone.
      usleep(250_000)
      return nil
    }
    // A key that was held comes several times at once; other keys are sequences.
    guard bytes[0] >= 0x20, bytes[..<count].allSatisfy({ $0 == bytes[0] }) else { return nil }
    return Character(Unicode.Scalar(bytes[0]))
  }
}
