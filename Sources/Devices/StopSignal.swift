internal import CLinux
internal import Frames
internal import Glibc
internal import Wire

/// Wakes a thread that waits in poll(2): a flag with a file descriptor, raised once and never cleared.
final class StopSignal: Sendable {
  /// Readable from the moment the signal is raised.
  let descriptor: Int32

  init() {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    precondition(descriptor >= 0, "the process has no file descriptor left")
  }

  deinit { close(descriptor) }

  func raise() {
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
  }

  var isRaised: Bool {
    var others = PollSet(reading: [])
    return others.wait(.zero, or: descriptor)
  }

  /// Sleeps until `deadline` or the signal; true if it is raised.
  func wait(until deadline: Instant) -> Bool {
    var others = PollSet(reading: [])
    repeat {
      if others.wait(deadline - MonotonicClock.now, or: descriptor) { return true }
    } while MonotonicClock.now < deadline
    return false
  }

  /// Waits for the signal or one of the others; true if the signal is raised.
  func wait(with others: inout PollSet, timeout: Duration) -> Bool {
    others.wait(timeout, or: descriptor)
  }
}
