internal import Synchronization
internal import Wire

/// Servers that have made this machine compute too long. Each is left alone for a minute, then for twice as long each time, up to an
/// hour; one that was good for a day begins again.
struct CostlyServers: Sendable {
  private struct Entry {
    var reason: String
    var until: Instant
    var backoff = Backoff(first: .seconds(60), longest: .seconds(3600))
  }

  private var entries: [String: Entry] = [:]
  private static let forgotten: Duration = .seconds(86_400)

  /// Those of this process.
  static let known = Mutex(CostlyServers())

  /// Why a server is left alone; nil: it is not.
  func refusal(_ server: String, now: Instant) -> String? {
    entries[server].flatMap { now < $0.until ? $0.reason : nil }
  }

  /// It has just done it.
  mutating func add(_ server: String, reason: String, now: Instant) {
    entries = entries.filter { now - $0.value.until < Self.forgotten }
    var entry = entries[server] ?? Entry(reason: reason, until: now)
    entry.reason = reason
    entry.until = now + entry.backoff.nextDelay()
    entries[server] = entry
  }
}
