internal import Frames
internal import Linux
internal import Wire

/// Wakes a thread that waits in poll(2): a flag with a file descriptor, raised once and never cleared.
final class StopSignal: Sendable {
  private let event = EventDescriptor()

  /// Readable from the moment the signal is raised.
  var descriptor: Int32 { event.descriptor }

  func raise() { event.raise() }

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
