// poll.h belongs to no module of its own, so `pollfd` may come from any module that includes it. All of them are
// imported here, and only this file accesses its members.
internal import CALSA
internal import CLinux
internal import Glibc
internal import Wire

/// File descriptors to wait on, as poll(2) takes them.
struct PollSet {
  private var entries: [pollfd]

  /// Waits for input; a descriptor of -1 is never ready.
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

  /// False after a wait that timed out.
  var isReady: Bool { entries.contains { $0.revents != 0 } }

  /// There is something to read.
  var hasInput: Bool { entries.contains { $0.revents & Int16(POLLIN) != 0 } }

  /// An error, a hang-up or an invalid descriptor was reported.
  var hasFault: Bool { entries.contains { $0.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 } }

  /// Waits for any of them or for `descriptor`; true if `descriptor` is ready.
  mutating func wait(_ timeout: Duration, or descriptor: Int32) -> Bool {
    entries.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
    defer { entries.removeLast() }
    // ppoll(2) for its nanosecond timeout: with whole milliseconds the remainder would need a second wait.
    let (seconds, rest) = max(0, timeout.nanoseconds).quotientAndRemainder(dividingBy: 1_000_000_000)
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
    let count = ppoll(&entries, nfds_t(entries.count), &time, nil)
    // Interrupted: no state is known.
    if count < 0 {
      for index in entries.indices { entries[index].revents = 0 }
    }
    return entries[entries.count - 1].revents != 0
  }
}
