internal import Synchronization
internal import Wire

/// What happens more often than the log should say: each reason once in an interval, with how often it has happened since.
final class LogCounts<Reason: Hashable & Sendable>: Sendable {
  private struct Entry: Sendable {
    var loggedAt: Instant
    var count = 0
  }

  private let interval: Duration
  /// Reasons that are kept apart; further ones are logged no sooner than the first of these is forgotten.
  private let maximum: Int
  private let entries = Mutex<[Reason: Entry]>([:])

  init(interval: Duration, maximum: Int = 32) {
    self.interval = interval
    self.maximum = maximum
  }

  /// - Returns: how often it has happened since it was last logged, this time included; nil: not to be logged now.
  func count(_ reason: Reason, now: Instant) -> Int? {
    entries.withLock { entries in
      if let entry = entries[reason] {
        guard now - entry.loggedAt >= interval else {
          entries[reason]?.count += 1
          return nil
        }
        entries[reason] = Entry(loggedAt: now)
        return entry.count + 1
      }
      if entries.count >= maximum { entries = entries.filter { now - $0.value.loggedAt < interval } }
      guard entries.count < maximum else { return nil }
      entries[reason] = Entry(loggedAt: now)
      return 1
    }
  }
}
