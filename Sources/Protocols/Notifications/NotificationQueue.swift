internal import Control
public import Wire

/// What came of one try.
public enum DeliveryOutcome: Hashable, Sendable {
  /// The server answered; `retryAfter` as it asked for, `reason` in its words, such as `BadJwtToken`.
  case status(Int, retryAfter: Duration?, reason: String? = nil)
  /// No answer; why, for people.
  case failed(String)
  /// Another try would end the same way, for example after a redirect to another host; why, for people.
  case refused(String)

  /// Whether another try can end differently. RFC 9110 section 15: of the 4xx only 408 and 429.
  var isRetried: Bool {
    switch self {
    case .status(let status, _, _): status == 408 || status == 429 || (500...599).contains(status)
    case .failed: true
    case .refused: false
    }
  }

  public var isDelivered: Bool {
    if case .status(200...299, _, _) = self { true } else { false }
  }

  /// For people: "the server answered 401".
  public var words: String {
    switch self {
    case .status(let status, _, let reason): "the server answered \(status)" + (reason.map { " \($0)" } ?? "")
    case .failed(let reason), .refused(let reason): reason
    }
  }
}

/// What one notifier has still to deliver, oldest first, one at a time, and when to try again.
public struct NotificationQueue: Sendable {
  /// A night of trouble; about 30 KB on disk.
  public static let capacity = 100
  /// Twice as long each time, with jitter, so that a server that comes back is not met by all at once.
  static let firstDelay: Duration = .seconds(2)
  static let longestDelay: Duration = .seconds(600)
  /// A server may ask for more patience, up to this.
  static let longestRetryAfter: Duration = .seconds(3600)
  /// About a day at the longest delay.
  static let maximumAttempts = 150

  /// What became of the notification in flight.
  public enum Verdict: Hashable, Sendable {
    case delivered
    case retried(after: Duration)
    /// Removed from the queue: the server refuses it, or it was tried too often.
    case givenUp
  }

  private var queue: FIFO<Notification>
  private var isInFlight = false
  private var failures = 0
  private var nextTry: Instant?

  /// - Parameter restored: what an earlier run has left, oldest first.
  public init(restored: [Notification] = []) {
    queue = FIFO()
    for notification in restored { _ = append(notification) }
  }

  /// Oldest first, the one in flight included.
  public var waiting: [Notification] { queue.elements }
  /// How many tries in a row have failed.
  public var failuresInARow: Int { failures }

  /// - Returns: whether one had to go, perhaps this one.
  public mutating func append(_ notification: Notification) -> Bool {
    var elements = queue.elements
    elements.append(notification)
    // The one in flight stays in front: its outcome is still to come.
    let isFull = elements.removeSurplus(beyond: Self.capacity, fixed: isInFlight ? 1 : 0)
    queue = FIFO()
    for element in elements { queue.append(element) }
    return isFull
  }

  /// When `poll` has something; nil while nothing waits, or one is in flight.
  public var nextDeadline: Instant? {
    guard !isInFlight, !queue.isEmpty else { return nil }
    return nextTry ?? .zero
  }

  /// The notification to send now. Call `finish` with what came of it.
  public mutating func poll(now: Instant) -> Notification? {
    guard nextDeadline.isDue(at: now), let first = queue.first else { return nil }
    isInFlight = true
    return first
  }

  /// - Parameter random: 32 uniform bits, for jitter.
  public mutating func finish(_ outcome: DeliveryOutcome, random: UInt32, now: Instant) -> Verdict {
    guard isInFlight else { return .givenUp }
    isInFlight = false
    if outcome.isDelivered {
      failures = 0
      nextTry = nil
      _ = queue.popFirst()
      return .delivered
    }
    failures = min(failures + 1, Self.maximumAttempts)
    guard outcome.isRetried, !queue.isEmpty, (0..<Self.maximumAttempts - 1).contains(queue[0].attempts) else {
      _ = queue.popFirst()
      // The next one may be accepted, but not at once: whoever refuses should not be flooded.
      nextTry = now + Self.firstDelay
      return .givenUp
    }
    queue[0].attempts += 1
    var delay = backoff(random)
    if case .status(_, let wanted?, _) = outcome { delay = max(delay, min(wanted, Self.longestRetryAfter)) }
    nextTry = now + delay
    return .retried(after: delay)
  }

  /// Between half of the full delay and all of it.
  private func backoff(_ random: UInt32) -> Duration {
    var full = Self.firstDelay
    for _ in 1..<max(1, failures) where full < Self.longestDelay { full *= 2 }
    let halfMilliseconds = min(full, Self.longestDelay).nanoseconds / 2_000_000
    return .milliseconds(halfMilliseconds + (halfMilliseconds * Int64(random)) >> 32)
  }
}

extension [Notification] {
  /// Makes one notification go when there are more than `capacity`: of the lowest level, of the largest group of one kind by one
  /// person, the oldest. So whoever causes many displaces only its own, and nothing displaces what is graver.
  ///
  /// - Parameter fixed: so many in front stay.
  /// - Returns: whether one had to go.
  public mutating func removeSurplus(beyond capacity: Int, fixed: Int = 0) -> Bool {
    guard count > capacity, count > fixed else { return false }
    let lowest = self[fixed...].map(\.rank).min()
    let candidates = indices.dropFirst(fixed).filter { self[$0].rank == lowest }
    var counts: [NotificationGroup: Int] = [:]
    for index in candidates { counts[self[index].group, default: 0] += 1 }
    let most = counts.values.max()
    let oldest = candidates.first { counts[self[$0].group] == most }
    if let oldest { remove(at: oldest) }
    return true
  }
}

/// Notifications that compete for the same space.
private struct NotificationGroup: Hashable {
  let kind: String
  let name: String?
}

extension Notification {
  fileprivate var group: NotificationGroup { NotificationGroup(kind: kind, name: name) }

  /// That of a level which is not known, as a damaged file may have, is the lowest.
  fileprivate var rank: EventLevel { EventLevel(rawValue: level) ?? .notice }
}
