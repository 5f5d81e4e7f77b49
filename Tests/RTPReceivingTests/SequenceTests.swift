import Testing

@testable import RTPReceiving

@Suite struct SequenceTests {
  @Test func numbersRiseThroughTheWrap() {
    var tracker = SequenceTracker()
    #expect(tracker.receive(0xfffe) == .newest(0xfffe, missing: 0xfffe..<0xfffe))
    #expect(tracker.receive(0xffff) == .newest(0xffff, missing: 0xffff..<0xffff))
    #expect(tracker.receive(2) == .newest(0x1_0002, missing: 0x1_0000..<0x1_0002))
    #expect(tracker.receive(1) == .late(0x1_0001))
    #expect(tracker.receive(0) == .late(0x1_0000))
    #expect(tracker.receive(0xffff) == .duplicate)
  }

  @Test func everythingIsTakenOnce() {
    var tracker = SequenceTracker()
    for number in 100..<9000 { _ = tracker.receive(UInt16(number)) }
    for number in 5000..<9000 { #expect(tracker.receive(UInt16(number)) == .duplicate) }
  }

  @Test func whatIsVeryOldChangesNothing() {
    var tracker = SequenceTracker()
    for number in 0..<20_000 { _ = tracker.receive(UInt16(number)) }
    #expect(tracker.receive(100) == .implausible)
    #expect(tracker.highest == 19_999)
    #expect(tracker.receive(20_000) == .newest(20_000, missing: 20_000..<20_000))
    // Only one right behind the first would be believed, and something came between.
    #expect(tracker.receive(101) == .implausible)
  }

  @Test func aJumpIsBelievedWhenASecondPacketFollows() {
    var tracker = SequenceTracker()
    _ = tracker.receive(10)
    #expect(tracker.receive(30_000) == .implausible)
    #expect(tracker.receive(30_001) == .restarted(30_001))
    #expect(tracker.receive(30_000) == .late(30_000))
    #expect(tracker.receive(30_002) == .newest(30_002, missing: 30_002..<30_002))
    // Backwards the numbers go on rising all the same.
    #expect(tracker.receive(5) == .implausible)
    #expect(tracker.receive(6) == .restarted(65_542))
  }

  @Test func retransmissionsNeitherBeginNorRestart() {
    var tracker = SequenceTracker()
    #expect(tracker.receive(5, isRetransmission: true) == .implausible)
    _ = tracker.receive(10)
    #expect(tracker.receive(30_000, isRetransmission: true) == .implausible)
    #expect(tracker.receive(30_001, isRetransmission: true) == .implausible)
    #expect(tracker.receive(9, isRetransmission: true) == .late(9))
    #expect(tracker.receive(12, isRetransmission: true) == .newest(12, missing: 11..<12))
  }

  @Test func copiesFillOnlyWhatIsMissing() {
    var tracker = SequenceTracker()
    _ = tracker.receive(10)
    _ = tracker.receive(12)
    let taken = [11, 11, 12, 13].map { tracker.receiveCopy($0) }
    #expect(taken == [true, false, false, false])
    #expect(tracker.receive(11) == .duplicate)
  }
}
