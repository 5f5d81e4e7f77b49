internal import CLinux
internal import Glibc

/// Wakes a thread that waits in poll(2) for other descriptors as well: eventfd(2).
public final class EventDescriptor: Sendable {
  /// Readable from the moment it is raised until it is cleared.
  public let descriptor: Int32

  public init() {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    precondition(descriptor >= 0, "the process has no file descriptor left")
  }

  deinit { close(descriptor) }

  /// Call from any thread; a second call before `clear` changes nothing.
  public func raise() {
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
  }

  public func clear() {
    var count: UInt64 = 0
    _ = read(descriptor, &count, 8)
  }
}
