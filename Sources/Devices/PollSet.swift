// poll.h belongs to no module of its own, so `pollfd` may come from any module that includes it. All are named here,
// and nowhere else does anything touch its members.
internal import CALSA
internal import CLinux
internal import Glibc

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
  mutating func wait(milliseconds: Int64, or descriptor: Int32) -> Bool {
    entries.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
    defer { entries.removeLast() }
    let count = poll(&entries, nfds_t(entries.count), Int32(clamping: milliseconds))
    // Interrupted: nothing is known of any of them.
    if count < 0 {
      for index in entries.indices { entries[index].revents = 0 }
    }
    return entries[entries.count - 1].revents != 0
  }
}
