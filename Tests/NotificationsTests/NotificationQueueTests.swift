import Control
import Testing
import Wire

@testable import Notifications

/// A queue that `#expect` can change.
private final class TestQueue {
  private var queue: NotificationQueue

  init(restored: [Notification] = []) { queue = NotificationQueue(restored: restored) }

  var waiting: [Notification] { queue.waiting }
  var failuresInARow: Int { queue.failuresInARow }
  var nextDeadline: Instant? { queue.nextDeadline }
  func append(_ notification: Notification) -> Bool { queue.append(notification) }
  func poll(now: Instant) -> Notification? { queue.poll(now: now) }
  func finish(_ outcome: DeliveryOutcome, random: UInt32, now: Instant) -> NotificationQueue.Verdict {
    queue.finish(outcome, random: random, now: now)
  }
}

@Suite struct NotificationQueueTests {
  private static func notification(_ number: Int) -> Notification {
    Notification(kind: "light", level: .notice, time: Double(number))
  }

  private static func at(_ seconds: Double) -> Instant { .zero + .seconds(seconds) }

  @Test func deliversInOrderOneAtATime() throws {
    let queue = TestQueue()
    for number in 1...3 { #expect(!queue.append(Self.notification(number))) }
    for number in 1...3 {
      #expect(queue.poll(now: .zero) == Self.notification(number))
      #expect(queue.poll(now: .zero) == nil)
      #expect(queue.nextDeadline == nil)
      #expect(queue.finish(.status(204, retryAfter: nil), random: 0, now: .zero) == .delivered)
    }
    #expect(queue.nextDeadline == nil && queue.waiting.isEmpty)
  }

  /// 2, 4, 8 … 600 s at most, and at least half of it.
  @Test func waitsLongerEachTimeUpToTenMinutes() throws {
    for (random, share) in [(UInt32.min, 0.5), (.max, 1.0)] {
      let queue = TestQueue()
      _ = queue.append(Self.notification(1))
      var now = Instant.zero
      for expected in [2.0, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600] {
        #expect(queue.poll(now: now) != nil)
        _ = queue.finish(.failed("refused"), random: random, now: now)
        let deadline = try #require(queue.nextDeadline)
        #expect(abs((deadline - now).inSeconds - expected * share) < 0.002)
        #expect(queue.poll(now: deadline - .milliseconds(1)) == nil)
        now = deadline
      }
    }
  }

  @Test func startsAnewAfterASuccess() {
    let queue = TestQueue()
    for number in 1...2 { _ = queue.append(Self.notification(number)) }
    for second in [0.0, 10] {
      _ = queue.poll(now: Self.at(second))
      _ = queue.finish(.status(503, retryAfter: nil), random: .max, now: Self.at(second))
    }
    #expect(queue.failuresInARow == 2)
    _ = queue.poll(now: Self.at(30))
    #expect(queue.finish(.status(200, retryAfter: nil), random: 0, now: Self.at(30)) == .delivered)
    #expect(queue.failuresInARow == 0)
    #expect(queue.poll(now: Self.at(30)) == Self.notification(2))
  }

  @Test(arguments: [400, 401, 403, 404, 413, 422, 100, 304, 999])
  func refusedOnesAreGivenUpAndTheNextWaitsAMoment(status: Int) {
    let queue = TestQueue()
    for number in 1...2 { _ = queue.append(Self.notification(number)) }
    _ = queue.poll(now: .zero)
    #expect(queue.finish(.status(status, retryAfter: nil), random: 0, now: .zero) == .givenUp)
    #expect(queue.poll(now: .zero) == nil)
    #expect(queue.poll(now: Self.at(2)) == Self.notification(2))
  }

  @Test(arguments: [408, 429, 500, 502, 503, 504])
  func theseAreTriedAgain(status: Int) {
    let queue = TestQueue()
    _ = queue.append(Self.notification(1))
    _ = queue.poll(now: .zero)
    #expect(queue.finish(.status(status, retryAfter: nil), random: 0, now: .zero) == .retried(after: .seconds(1)))
    #expect(queue.waiting.first?.attempts == 1)
  }

  @Test func aServerMayAskForMorePatienceUpToAnHour() {
    for (asked, wait) in [(0, 2), (30, 30), (999_999_999, 3600)] {
      let queue = TestQueue()
      _ = queue.append(Self.notification(1))
      _ = queue.poll(now: .zero)
      _ = queue.finish(.status(429, retryAfter: .seconds(asked)), random: .max, now: .zero)
      let deadline = queue.nextDeadline.map { ($0 - .zero).inSeconds } ?? 0
      #expect(abs(deadline - Double(wait)) < 0.002)
    }
    #expect(Duration(retryAfter: "120") == .seconds(120))
    for text in ["", "-1", "1.5", "Wed, 21 Oct 2026 07:28:00 GMT", "9999999999", "１"] {
      #expect(Duration(retryAfter: text) == nil, "\(text)")
    }
  }

  @Test func oldestGoesWhenFullButNeverTheOneInFlight() {
    let queue = TestQueue()
    for number in 1...NotificationQueue.capacity { #expect(!queue.append(Self.notification(number))) }
    _ = queue.poll(now: .zero)
    #expect(queue.append(Self.notification(101)))
    #expect(queue.waiting.count == NotificationQueue.capacity)
    #expect(queue.waiting.prefix(2).map(\.time) == [1, 3])
    #expect(queue.finish(.status(200, retryAfter: nil), random: 0, now: .zero) == .delivered)
    #expect(queue.append(Self.notification(102)) == false)
    #expect(queue.append(Self.notification(103)))
    #expect(queue.waiting.first?.time == 4)
    #expect(queue.waiting.last?.time == 103)
  }

  private static func event(_ kind: EventKind, _ number: Int, by name: String? = nil, _ level: EventLevel? = nil)
    -> Notification
  {
    Notification(kind: kind.rawValue, level: level ?? kind.level, time: Double(number), name: name)
  }

  @Test func whoCausesManyDisplacesOnlyItsOwn() {
    let queue = TestQueue()
    let others = [
      Self.event(.cameraLost, 1), Self.event(.alarm, 2, by: "Mum", .warning), Self.event(.light, 3, by: "Mum"),
      Self.event(.alarm, 4, by: "Mum", .notice),
    ]
    for event in others { _ = queue.append(event) }
    for number in 10..<500 { _ = queue.append(Self.event(.alarm, number, by: "guest", .notice)) }
    _ = queue.append(Self.event(.light, 1000, by: "Mum"))
    #expect(queue.waiting.count == NotificationQueue.capacity && Array(queue.waiting.prefix(4)) == others)
    #expect(queue.waiting.suffix(2).map(\.time) == [499, 1000])
  }

  @Test func nothingDisplacesWhatIsGraver() {
    let queue = TestQueue()
    for number in 1...NotificationQueue.capacity { _ = queue.append(Self.event(.cameraLost, number)) }
    // The new one is the least of all.
    #expect(queue.append(Self.event(.alarm, 500, by: "guest", .notice)))
    #expect(queue.waiting.allSatisfy { $0.level == "alarm" })
    #expect(queue.append(Self.event(.cameraLost, 501)))
    #expect(queue.waiting.map(\.time) == (2...100).map(Double.init) + [501])
    // A level that nobody knows, as in a damaged file, is the lowest.
    var damaged = Self.event(.light, 502)
    damaged.level = "?"
    #expect(queue.append(damaged) && queue.waiting.last?.time == 501)
  }

  /// About a day; a family that comes home does not want last week's alarms.
  @Test func anUnreachableServerIsGivenUpAfterADay() {
    let queue = TestQueue()
    _ = queue.append(Self.notification(1))
    var now = Instant.zero
    var tries = 0
    while queue.poll(now: now) != nil {
      tries += 1
      _ = queue.finish(.failed("no route"), random: .max, now: now)
      now = queue.nextDeadline ?? now
    }
    #expect(tries == NotificationQueue.maximumAttempts)
    #expect(queue.waiting.isEmpty)
    #expect((20.0 * 3600...26 * 3600).contains((now - .zero).inSeconds))
  }

  @Test func restoredOnesAreTriedAtOnceAndBounded() {
    let restored = (1...250).map(Self.notification)
    let queue = TestQueue(restored: restored)
    #expect(queue.waiting.count == NotificationQueue.capacity)
    #expect(queue.poll(now: .zero) == Self.notification(151))
  }

  @Test func hostileCountsFromTheFileDoNotTrap() {
    var broken = Self.notification(1)
    broken.attempts = .max - 1
    let queue = TestQueue(restored: [broken])
    _ = queue.poll(now: .zero)
    #expect(queue.finish(.failed("x"), random: 0, now: .zero) == .givenUp)
    broken.attempts = .max
    let other = TestQueue(restored: [broken])
    _ = other.poll(now: .zero)
    #expect(other.finish(.failed("x"), random: 0, now: .zero) == .givenUp)
  }
}
