import Wire

/// Sends less while a queue stands on the path, until it has drained. The trend alone needs a second to notice that a path
/// has become five times slower, and then sends as much as drains.
struct QueueDrain: Sendable {
  enum Verdict: Hashable, Sendable {
    /// There is no queue worth mentioning.
    case none
    /// A queue drains; the path carries so many bits per second.
    case draining(pathBitsPerSecond: Double)
    /// The queue has drained. While it stood, the path carried so many bits per second; nil: it did not stand long enough
    /// to tell.
    case drained(pathBitsPerSecond: Double?)
    /// Sending less has not made the queue shorter: it is not ours, or the path has become longer. The rate before that, bits per
    /// second.
    case notOurs(rate: Double)
  }

  private struct Draining: Sendable {
    let began: Instant
    var lowestMilliseconds: Double
    var shorterAt: Instant
    /// It is so long that sending a little less is not enough.
    var isLong: Bool
    /// What arrived in each measurement while the queue stood: a path with a queue is a full one.
    var arrivingSum = 0.0
    var arrivingCount = 0.0
  }

  private var draining: Draining?
  /// The rate before the first of drains that follow each other, bits per second, and until when it counts.
  private var before: (rate: Double, until: Instant)?
  /// The rate until the queue has drained, bits per second; nil: there is none.
  private(set) var bitsPerSecond: Double?

  private static let beginsAboveMilliseconds = 100.0
  private static let endsBelowMilliseconds = 40.0
  /// Of what arrives: the other half drains the queue.
  private static let share = 0.5
  /// A queue has become shorter when it has lost a tenth, and has to within this time.
  private static let noticeableShrinking = 0.9
  private static let patience = Duration.seconds(2)
  private static let shortestPatience = Duration.milliseconds(600)
  private static let shortMilliseconds = 20.0
  private static let measurementsToTell = 4.0
  /// Drains that follow each other within this time began from one rate.
  private static let chain = Duration.seconds(3)

  /// - Parameters:
  ///   - isStanding: less is sent for the queue.
  ///   - queueMilliseconds: without what is no queue of ours.
  ///   - sending: bits per second that leave; nil while unknown.
  ///   - rate: bits per second that were sent, for the case that the queue is not ours.
  ///   - arriving: bits per second that arrived lately; nil while unknown.
  mutating func update(
    isStanding: Bool = false, queueMilliseconds: Double, arriving: Double?, sending: Double? = nil, rate: Double = 0,
    now: Instant
  ) -> Verdict {
    let queue = max(0, queueMilliseconds)
    if draining == nil, before.map({ now > $0.until }) ?? true { before = (rate, now + Self.chain) }
    guard var current = draining else {
      let isLong = queue > Self.beginsAboveMilliseconds
      guard isLong || isStanding, let arriving else { return .none }
      draining = Draining(began: now, lowestMilliseconds: queue, shorterAt: now, isLong: isLong)
      guard isLong else { return .none }
      bitsPerSecond = arriving * Self.share
      return .draining(pathBitsPerSecond: arriving)
    }
    guard queue > (current.isLong ? Self.endsBelowMilliseconds : Self.shortMilliseconds) else {
      let wasLong = current.isLong
      stop()
      guard wasLong else { return .none }
      return .drained(
        pathBitsPerSecond: current.arrivingCount >= Self.measurementsToTell
          ? current.arrivingSum / current.arrivingCount : nil)
    }
    if let arriving {
      current.arrivingSum += arriving
      current.arrivingCount += 1
    }
    if queue < current.lowestMilliseconds * Self.noticeableShrinking {
      current.lowestMilliseconds = queue
      current.shorterAt = now
    } else if queue > current.lowestMilliseconds, now - current.began < .seconds(1) {
      // What was under way when it was noticed still joins the queue. Later, a queue that swings is not ours.
      current.lowestMilliseconds = queue
    }
    draining = current
    // What is known of the queue is as old as the queue is long.
    let age = Duration.nanoseconds(Int64(saturating: current.lowestMilliseconds * 1e6))
    guard now - current.shorterAt <= age + min(max(Self.shortestPatience, age * 3), Self.patience) else {
      // While the queue is ours, more arrives than is sent: it drains.
      if let sending, let arriving, sending < arriving * 0.9 {
        draining?.shorterAt = now - age
        return .none
      }
      stop()
      return .notOurs(rate: before?.rate ?? rate)
    }
    guard let arriving, queue > Self.beginsAboveMilliseconds else { return .none }
    draining?.isLong = true
    bitsPerSecond = min(bitsPerSecond ?? .infinity, arriving * Self.share)
    return .draining(pathBitsPerSecond: arriving)
  }

  private mutating func stop() {
    draining = nil
    bitsPerSecond = nil
  }
}
