import Testing
import Wire

@testable import RTPSending

@Suite struct QueueTrialTests {
  /// Feedback every 50 ms; gives back when the queue was found not to be ours, in seconds.
  private static func found(seconds: Double, isInteresting: Bool = true, queue: (Double, Bool) -> Double) -> [Double] {
    var trial = QueueTrial()
    var found: [Double] = []
    for step in 0..<Int(seconds * 20) {
      let now = Instant(nanoseconds: Int64(step) * 50_000_000)
      let milliseconds = queue(Double(step) / 20, trial.bitsPerSecond != nil)
      if trial.update(
        milliseconds: milliseconds, slackMilliseconds: 20, isInteresting: isInteresting, arriving: 100_000, now: now)
      {
        found.append(Double(step) / 20)
      }
    }
    return found
  }

  @Test func aQueueThatStaysWhateverIsSentIsOthers() throws {
    // It swings between 55 and 95 ms, as measured beside a download at 500 kbit/s.
    let found = Self.found(seconds: 4) { time, _ in 75 + (Int(time * 10) % 2 == 0 ? 20 : -20) }
    #expect(try #require(found.first) < 3.5)
  }

  @Test func aQueueThatShrinksWhereLessIsSentIsOurs() {
    var queue = 40.0
    let found = Self.found(seconds: 30) { _, isTrying in
      queue = isTrying ? max(0, queue - 15) : min(40, queue + 2)
      return queue
    }
    #expect(found.isEmpty)
  }

  @Test func aShortOrPassingQueueIsNotLookedAtNorWhoHasEnough() {
    #expect(Self.found(seconds: 30) { _, _ in 10 }.isEmpty)
    #expect(Self.found(seconds: 30) { time, _ in Int(time) % 2 == 0 ? 60 : 0 }.isEmpty)
    #expect(Self.found(seconds: 30, isInteresting: false) { _, _ in 80 }.isEmpty)
  }
}
