// poll.h belongs to no module of its own, so `pollfd` may come from any module that includes it. All are named here,
// and nowhere else does anything touch its members.
internal import CALSA
internal import CLinux
internal import Glibc
internal import Wire

/// File descriptors to wait on, as poll(2) takes them.
struct PollSet {
  private var entries: [pollfd]

  /// Waits for something to read; a descriptor of -1 is never ready.
  init(reading descriptors: [Int32]) {
    entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
  }

  /// Entries as ALSA fills them in.
  init(count: Int, fill: (UnsafeMutablePointer<pollfd>) -> Void) {
    entries = [pollfd](repeating: pollfd(), count: count)
    withEntries { fill($0) }
  }

  mutating func withEntries(_ body: (UnsafeMutablePointer<pollfd>) -> Void) {
    entries.withUnsafeMutableBufferPointer { buffer in
      if let base = buffer.baseAddress { body(base) }
    }
  }

  var count: Int { entries.count }

  /// False after a wait in which nothing happened.
  var isReady: Bool { entries.contains { $0.revents != 0 } }

  /// The other side reports an error or has gone.
  var hasFault: Bool { entries.contains { $0.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 } }

  /// Waits for any of them or for `descriptor`; true if that one is ready.
  mutating func wait(_ timeout: Duration, or descriptor: Int32) -> Bool {
    entries.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
    defer { entries.removeLast() }
    // To the nanosecond, ppoll(2): a wait in whole milliseconds would take a second one for the rest.
    let (seconds, rest) = max(0, timeout.nanoseconds).quotientAndRemainder(dividingBy: 1_000_000_000)
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
    let count = ppoll(&entries, nfds_t(entries.count), &time, nil)
    // Interrupted: nothing is known of any of them.
    if count < 0 {
      for index in entries.indices { entries[index].revents = 0 }
    }
    return entries[entries.count - 1].revents != 0
  }
}
