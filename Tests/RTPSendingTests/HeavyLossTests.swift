import RTP
import TestSupport
import Testing
import Wire

@testable import RTPSending

/// A path that loses so much that feedback about it is lost as well.
@Suite struct HeavyLossTests {
  /// A call with a good path for some seconds, which then loses this share both ways.
  private static func call(loss: Double, seed: UInt64 = 1) -> Call {
    var call = Call(rig: Rig(seed: seed), link: Bottleneck(bitsPerSecond: 5_000_000))
    call.random = SeededGenerator(seed: seed)
    call.link.delay = .milliseconds(10)
    call.cameraKbps = 1500
    call.run(for: .seconds(10))
    (call.link.loss, call.feedbackLoss) = (loss, loss)
    return call
  }

  /// When a packet that repeats one of the picture went out.
  private static func repeats(_ call: Call) -> [Instant] {
    call.rig.packets.filter { $0.packet.header.ssrc == rtxSSRC && !$0.packet.payload.isEmpty }.map(\.at)
  }

  /// Nobody asks: there are no NACKs in this call.
  @Test(arguments: 1...3) func withAFifthLostBothWaysAllOfThePictureArrivesSoon(seed: UInt64) {
    var call = Self.call(loss: 0.2, seed: seed)
    // Once it has been looked into: sending less makes no difference.
    call.run(for: .seconds(8))
    let before = call.pictures.count
    call.run(for: .seconds(61))
    let delays = call.pictureDelays().dropFirst(before)
    #expect(delays.count > 10_000)
    #expect(delays.count { $0 > 250 } * 1000 < delays.count, "\(delays.count { $0 > 250 })")
    // After that long a silence a key frame makes good what is missing.
    #expect(delays.count { $0 > 500 } == 0, "\(delays.max() ?? 0)")
    #expect(Self.repeats(call).count < call.pictures.count)
  }

  @Test func whatMissingFeedbackWouldHaveReportedIsSentAgainBeforeTheNextComes() {
    var call = Self.call(loss: 0.2)
    call.run(for: .milliseconds(8025))
    call.feedbackLoss = 1
    call.run(for: .milliseconds(75))
    let before = Self.repeats(call).count
    call.run(for: .milliseconds(75))
    // All that was sent in the interval before: five packets at least.
    #expect(Self.repeats(call).count >= before + 5)
  }

  @Test func whereNoFeedbackComesAtAllNothingIsSentAgain() {
    var call = Self.call(loss: 0.2)
    call.run(for: .seconds(5))
    call.feedbackLoss = 1
    call.run(for: .milliseconds(800))
    let before = Self.repeats(call).count
    call.run(for: .milliseconds(500))
    #expect(Self.repeats(call).count == before)
  }

  @Test func whereLittleIsLostMissingFeedbackIsWaitedFor() {
    var call = Self.call(loss: 0)
    call.run(for: .seconds(5))
    call.feedbackLoss = 1
    call.run(for: .milliseconds(400))
    call.feedbackLoss = 0
    call.run(for: .seconds(1))
    #expect(Self.repeats(call).isEmpty)
  }

  @Test func theBudgetIsKeptForWhatIsKnownToBeMissing() {
    var budget = RetransmissionBudget()
    let now = Instant.milliseconds(1000)
    func take(_ urgency: RetransmissionUrgency) -> Int {
      var count = 0
      while budget.take(1000, for: urgency, targetKbps: 1000, now: now) { count += 1 }
      return count
    }
    // 62.5 kB are half of what may be sent in a second.
    #expect(take(.spare) == 31)
    #expect(take(.uncertain) == 25)
    #expect(take(.missing) == 6)
  }

  @Test func thePaceOfFeedbackCountsThatWhichIsLost() {
    var pace = FeedbackPace()
    pace.note(count: 254, now: .milliseconds(1000))
    #expect(pace.interval == nil && pace.missing(1) == nil)
    pace.note(count: 255, now: .milliseconds(1060))
    #expect(pace.interval == .milliseconds(60))
    pace.note(count: 2, now: .milliseconds(1240))
    #expect(pace.interval == .milliseconds(60))
    #expect(pace.expected(2) == .milliseconds(1360) && pace.missing(2) == .milliseconds(1390))
  }

  @Test func aPeerThatBeginsAnewOrReportsAllTheTimeDoesNotUpsetThePace() {
    var pace = FeedbackPace()
    pace.note(count: 1, now: .milliseconds(0))
    pace.note(count: 2, now: .milliseconds(50))
    pace.note(count: 0, now: .milliseconds(5000))
    pace.note(count: 0, now: .milliseconds(5001))
    #expect(pace.interval == .milliseconds(50))
    for count in 1...200 { pace.note(count: UInt8(count), now: .milliseconds(5001 + count)) }
    #expect(pace.interval == .milliseconds(20))
  }
}
