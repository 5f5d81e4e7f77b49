internal import Glibc
internal import Synchronization

/// Writes through a pipe, a FIFO, a socket, a device or standard output, piece by piece. Opened at the first write, from
/// one thread; a reader that is slow or not there yet is waited for.
public final class OutputStream: Sendable {
  private let output: OutputPath
  /// -1 until it is open.
  private let descriptor = Atomic<Int32>(-1)
  /// On the monotonic clock, in milliseconds; 0: wait for ever.
  private let deadline = Atomic<Int64>(0)

  /// How long one wait lasts before the deadline is looked at again.
  private static let pause: Int32 = 100

  /// The path has to be one that is written through: `OutputPath.isStream`.
  public init(_ output: OutputPath) {
    self.output = output
  }

  deinit {
    let number = descriptor.load(ordering: .relaxed)
    if number >= 0 { close(number) }
  }

  /// Whoever does not read is waited for no longer than this from now on. From any thread.
  public func giveUp(afterMilliseconds milliseconds: Int64) {
    deadline.store(Self.now + milliseconds, ordering: .relaxed)
  }

  /// Returns when the reader, or the kernel for it, has everything.
  public func write(_ bytes: [UInt8]) throws(FileError) {
    let number = try open()
    var done = 0
    while done < bytes.count {
      try waitForRoom(number)
      // No more than what a pipe with room takes at once: the descriptor is others' as well, and may block. pipe(7).
      let count = bytes.withUnsafeBytes { buffer in
        Glibc.write(number, buffer.baseAddress! + done, min(buffer.count - done, Int(PIPE_BUF)))
      }
      if count < 0 {
        if errno == EINTR || errno == EAGAIN { continue }
        throw failure(errno)
      }
      done += count
    }
  }

  private func open() throws(FileError) -> Int32 {
    let known = descriptor.load(ordering: .relaxed)
    if known >= 0 { return known }
    while true {
      let number =
        try output.way() == .standardOutput
        ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
        // Not blocking, because opening a FIFO waits for its reader, who may never come: fifo(7).
        : Glibc.open(output.path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
      if number >= 0 {
        descriptor.store(number, ordering: .relaxed)
        if isatty(number) == 1 {
          throw FileError(operation: "write", path: output.name, code: EINVAL, explanation: "it is a terminal")
        }
        return number
      }
      guard errno == ENXIO || errno == EINTR else { throw failure(errno) }
      guard !isOver else {
        throw FileError(operation: "write", path: output.name, code: ENXIO, explanation: "nobody reads it")
      }
      usleep(UInt32(Self.pause) * 1000)
    }
  }

  private func waitForRoom(_ number: Int32) throws(FileError) {
    var descriptor = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
    while true {
      let ready = poll(&descriptor, 1, Self.pause)
      if ready > 0 { return }
      if ready < 0, errno != EINTR { throw failure(errno) }
      guard !isOver else {
        throw FileError(
          operation: "write", path: output.name, code: EAGAIN, explanation: "whoever reads it has stopped reading")
      }
    }
  }

  private var isOver: Bool {
    let deadline = deadline.load(ordering: .relaxed)
    return deadline > 0 && Self.now >= deadline
  }

  private func failure(_ code: Int32) -> FileError {
    FileError(
      operation: "write", path: output.name, code: code,
      explanation: code == EPIPE ? "whoever has read it has closed it" : nil)
  }

  private static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
