import RTP
import Testing
import Wire

@testable import RTPSending

/// What feedback tells of the path: its queue and its loss.
@Suite struct PathTests {
  private static func packet(sentAt: Int, delay: Int) -> AcknowledgedPacket {
    AcknowledgedPacket(
      sentAt: .milliseconds(sentAt), arrivedAt: Instant.milliseconds(1_000_000 + sentAt + delay).nanoseconds,
      bytes: 1000)
  }

  /// Somebody's upload fills the queue for a minute: that is not what the path is like.
  @Test func aQueueThatStaysIsStillAQueue() {
    var queue = StandingQueue()
    for time in stride(from: 0, to: 2000, by: 10) { queue.add(Self.packet(sentAt: time, delay: 5)) }
    for time in stride(from: 2000, to: 57_000, by: 10) { queue.add(Self.packet(sentAt: time, delay: 55)) }
    #expect(queue.milliseconds == 50)
  }

  @Test func aPacketThatOvertakesAnotherDoesNotMakeItForgetThePath() {
    var queue = StandingQueue()
    for time in stride(from: 0, to: 1000, by: 10) { queue.add(Self.packet(sentAt: time, delay: 5)) }
    queue.add(Self.packet(sentAt: 1000, delay: 60))
    queue.add(Self.packet(sentAt: 1020, delay: 5))
    for time in stride(from: 1040, to: 2000, by: 10) { queue.add(Self.packet(sentAt: time, delay: 55)) }
    #expect(queue.milliseconds == 50)
  }

  @Test func aClockThatJumpsBackBeginsAnew() {
    var queue = StandingQueue()
    for time in stride(from: 0, to: 1000, by: 10) { queue.add(Self.packet(sentAt: time, delay: 500)) }
    for time in stride(from: 1000, to: 2000, by: 10) { queue.add(Self.packet(sentAt: time, delay: -4000)) }
    for time in stride(from: 2000, to: 2500, by: 10) { queue.add(Self.packet(sentAt: time, delay: -3980)) }
    #expect(queue.milliseconds == 20)
  }

  private static func feedback(_ base: UInt16, _ received: [Bool]) -> RTCPTransportFeedback {
    RTCPTransportFeedback(
      senderSSRC: 1, mediaSSRC: 2, baseSequenceNumber: base, referenceTime: 0, feedbackCount: 0,
      statuses: received.map { $0 ? .received(delta: 4) : .notReceived })
  }

  /// It comes behind others, in a later feedback.
  @Test func aPacketThatWasOnlyLateIsTakenOffTheLoss() {
    var history = TransportHistory()
    for number: UInt16 in 0..<6 {
      history.noteSent(
        number, media: MediaReference(stream: 0, sequenceNumber: number), bytes: 1000, now: .milliseconds(Int(number)))
    }
    let first = history.handle(Self.feedback(0, [true, true, false, true]))
    #expect(first.acknowledged.count == 3 && first.lost == 1 && first.recovered == 0)
    let second = history.handle(Self.feedback(2, [true, true, true, true]))
    #expect(second.acknowledged.count == 3 && second.lost == 0 && second.recovered == 1)
    let again = history.handle(Self.feedback(2, [true, true, true, true]))
    #expect(again.acknowledged.isEmpty && again.recovered == 0)
  }
}
