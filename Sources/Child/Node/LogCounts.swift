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
  /// What found no place among those that are kept apart.
  private let others = Mutex<Entry?>(nil)

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
      guard entries.count < maximum else {
        others.withLock { $0 = Entry(loggedAt: $0?.loggedAt ?? now, count: ($0?.count ?? 0) + 1) }
        return nil
      }
      entries[reason] = Entry(loggedAt: now)
      return 1
    }
  }

  /// What has happened again since it was logged, and an interval has passed: how often. It counts as logged now; what has not
  /// happened again is forgotten.
  func takeRepeats(now: Instant) -> [(reason: Reason, count: Int)] {
    entries.withLock { entries in
      let due = entries.filter { now - $0.value.loggedAt >= interval }
      for (reason, entry) in due { entries[reason] = entry.count > 0 ? Entry(loggedAt: now) : nil }
      return due.filter { $0.value.count > 0 }.map { ($0.key, $0.value.count) }
    }
  }

  /// How often something happened that was not kept apart, an interval after the first time; 0: not to be logged now.
  func takeOthers(now: Instant) -> Int {
    others.withLock { others in
      guard let entry = others, now - entry.loggedAt >= interval else { return 0 }
      others = nil
      return entry.count
    }
  }
}
