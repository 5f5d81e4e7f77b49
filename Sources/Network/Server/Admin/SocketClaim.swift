internal import Glibc
internal import Linux

/// The right to bind a UNIX socket: one daemon has it, as long as this object exists. A socket file outlives its daemon and so
/// says nothing; a lock on a file beside it (`control.sock.lock`) ends with the process.
public final class SocketClaim: Sendable {
  /// Why the socket cannot be had.
  public enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another daemon has it; its process id if it could be read.
    case taken(path: String, process: Int?)
    case failed(path: String, errno: Int32)

    public var description: String {
      switch self {
      case .taken(let path, let process):
        "\(path) is in use by another daemon" + (process.map { " (process \($0))" } ?? "")
          + "; stop that one or give --runtime-directory"
      case .failed(let path, let number): "cannot lock \(path): \(String(cString: strerror(number)))"
      }
    }
  }

  private let descriptor: Int32

  /// - Parameter path: of the socket.
  init(_ path: String) throws(Problem) {
    let lock = path + ".lock"
    descriptor = open(lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .failed(path: lock, errno: errno) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let number = errno
      let process = Self.process(descriptor)
      close(descriptor)
      throw number == EWOULDBLOCK ? .taken(path: path, process: process) : .failed(path: lock, errno: number)
    }
    // A daemon of an earlier version has no lock.
    if Self.isListening(path) {
      close(descriptor)
      throw .taken(path: path, process: nil)
    }
    FileOwner.adopt(lock)
    // The number is only for the message above.
    _ = ftruncate(descriptor, 0)
    let text = Array("\(getpid())\n".utf8)
    _ = pwrite(descriptor, text, text.count, 0)
  }

  deinit { close(descriptor) }

  private static func process(_ descriptor: Int32) -> Int? {
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    return Int(String(decoding: bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
  }

  private static func isListening(_ path: String) -> Bool {
    do throws(CommandClientError) {
      close(try CommandClient.connect(path: path, timeoutSeconds: 2))
      return true
    } catch {
      // Only a full backlog or a slow daemon is left: it lives.
      if case .failed(_, EAGAIN) = error { return true }
      return false
    }
  }
}
