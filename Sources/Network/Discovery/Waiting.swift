internal import Glibc
internal import Linux
internal import Wire

extension EventDescriptor {
  /// Sleeps until it is raised, a reference is readable, or `limit` has passed. Returns which references are readable.
  func wait(for references: [ServiceReference], limit: Duration?) -> [Bool] {
    var entries = ([descriptor] + references.map(\.descriptor)).map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    // Rounded up, so as not to wake just before the deadline.
    let milliseconds = limit.map { Int32(clamping: Int(saturating: max(0, ($0 / .milliseconds(1)).rounded(.up)))) }
    guard poll(&entries, nfds_t(entries.count), milliseconds ?? -1) > 0 else {
      return references.map { _ in false }
    }
    if entries[0].revents != 0 { clear() }
    return entries.dropFirst().map { $0.revents != 0 }
  }
}

extension Backoff {
  /// For the daemon, which restarts in a fraction of a second; each attempt costs a connection.
  static var daemon: Backoff { Backoff(first: .milliseconds(250), longest: .seconds(10)) }
  /// For a service that does not answer; the library has then tried for five seconds.
  static var service: Backoff { Backoff(first: .seconds(2), longest: .seconds(60)) }
}
