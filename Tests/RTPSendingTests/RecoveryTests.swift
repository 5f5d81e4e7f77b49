import RTP
import RTPSending
import TestSupport
import Testing
import Wire

/// What feedback reports as lost is sent again before anybody asks.
@Suite struct RecoveryTests {
  /// Feedback about all that was sent so far and not reported yet.
  private struct Reporter {
    private var reported = 0
    private var count: UInt8 = 0

    /// The feedback about what was sent so far is lost.
    mutating func skip(_ rig: Rig) { reported = rig.packets.count }

    /// - Parameter lost: positions among the packets that are reported now.
    mutating func report(_ rig: inout Rig, lost: Set<Int>, at now: Instant) {
      let numbers = rig.packets[reported...].compactMap { $0.packet.extensions(extensionIDs).transportSequenceNumber }
      reported = rig.packets.count
      guard let base = numbers.first else { return }
      let feedback = RTCPTransportFeedback(
        senderSSRC: peerSSRC, mediaSSRC: videoSSRC, baseSequenceNumber: base, referenceTime: 100, feedbackCount: count,
        statuses: numbers.indices.map { lost.contains($0) ? .notReceived : .received(delta: 4) })
      count &+= 1
      rig.sender.handle(rtcp: [.transportFeedback(feedback)], now: now)
      rig.drain(at: now)
    }
  }

  /// Originals that were sent again, in order.
  private static func repeated(_ rig: Rig) -> [UInt16] {
    rig.retransmissions.filter { !$0.payload.isEmpty }.map {
      UInt16($0.payload[$0.payload.startIndex]) << 8 | UInt16($0.payload.dropFirst().first!)
    }
  }

  @Test func whatFeedbackReportsAsLostIsSentAgainWithoutANACK() {
    var rig = Rig()
    var reporter = Reporter()
    rig.sendVideo(at: .milliseconds(0), isKeyFrame: true)
    rig.drain(at: .milliseconds(0))
    reporter.report(&rig, lost: [1, 3], at: .milliseconds(50))
    #expect(Self.repeated(rig) == [1, 3].map { rig.video[$0].header.sequenceNumber })
  }

  /// The third packet is lost, and so is its retransmission.
  private static func twiceLost() -> (rig: Rig, reporter: Reporter) {
    var rig = Rig()
    var reporter = Reporter()
    rig.sendVideo(at: .milliseconds(0), isKeyFrame: true)
    rig.drain(at: .milliseconds(0))
    reporter.report(&rig, lost: [2], at: .milliseconds(50))
    reporter.report(&rig, lost: [0], at: .milliseconds(60))
    return (rig, reporter)
  }

  @Test func aRetransmissionThatIsLostIsSentAgainAtOnce() {
    var rig = Self.twiceLost().rig
    let original = rig.video[2].header.sequenceNumber
    #expect(Self.repeated(rig) == [original, original])
    // A third time the picture would be too late: this one has a copy, though hardly anything is lost.
    rig.run(until: .milliseconds(80))
    #expect(Self.repeated(rig) == [original, original, original])
  }

  @Test func aCopyThatIsLostChangesNothingWhereAnotherHasArrived() {
    var (rig, reporter) = Self.twiceLost()
    rig.run(until: .milliseconds(80))
    #expect(Self.repeated(rig).count == 3)
    // The second time it has arrived, the third time it has not.
    reporter.report(&rig, lost: [1], at: .milliseconds(120))
    rig.run(until: .milliseconds(150))
    #expect(Self.repeated(rig).count == 3)
    // But who asks for it has not got it, whatever feedback says.
    rig.nack([rig.video[2].header.sequenceNumber], at: .milliseconds(200))
    #expect(Self.repeated(rig).count == 4)
  }

  @Test func aRequestForWhatIsOnItsWayChangesNothing() {
    var rig = Rig()
    var reporter = Reporter()
    rig.sendVideo(at: .milliseconds(0), isKeyFrame: true)
    rig.drain(at: .milliseconds(0))
    let original = rig.video[2].header.sequenceNumber
    reporter.report(&rig, lost: [2], at: .milliseconds(50))
    rig.nack([original], at: .milliseconds(52))
    #expect(Self.repeated(rig) == [original])
  }

  @Test func feedbackAboutAnOldCopyChangesNothingWhileANewerIsOnItsWay() {
    var rig = Rig()
    var reporter = Reporter()
    rig.sendVideo(at: .milliseconds(0), isKeyFrame: true)
    rig.drain(at: .milliseconds(0))
    let original = rig.video[2].header.sequenceNumber
    rig.nack([original], at: .milliseconds(40))
    reporter.report(&rig, lost: [2], at: .milliseconds(50))
    #expect(Self.repeated(rig) == [original])
  }

  @Test func afterALongGapAKeyFrameIsMadeThoughNobodyAskedAndNothingOlderIsSentAgain() {
    var rig = Rig()
    var reporter = Reporter()
    for time in stride(from: 0, to: 1000, by: 100) {
      rig.sendVideo(packets: 1, at: .milliseconds(time), isKeyFrame: time == 0)
      rig.drain(at: .milliseconds(time))
    }
    reporter.report(&rig, lost: Set(1..<10), at: .milliseconds(1000))
    #expect(rig.keyFrameRequests == [.milliseconds(1000)])
    #expect(rig.retransmissions.isEmpty)
    rig.sendVideo(at: .milliseconds(1030), isKeyFrame: true)
    rig.drain(at: .milliseconds(1030))
    reporter.report(&rig, lost: [0], at: .milliseconds(1080))
    #expect(Self.repeated(rig) == [rig.video[10].header.sequenceNumber])
  }

  /// More than may be sent again at once.
  @Test func whatExceedsTheRepairBudgetIsReplacedByAKeyFrame() {
    var rig = Rig()
    var reporter = Reporter()
    rig.sendVideo(packets: 120, at: .milliseconds(0), isKeyFrame: true)
    for time in stride(from: 0, to: 100, by: 5) { rig.drain(at: .milliseconds(time)) }
    #expect(rig.video.count == 120)
    reporter.report(&rig, lost: Set(0..<120), at: .milliseconds(110))
    for time in stride(from: 110, to: 200, by: 5) { rig.drain(at: .milliseconds(time)) }
    #expect((1..<120).contains(Self.repeated(rig).count) && rig.keyFrameRequests.isEmpty)
    reporter.report(&rig, lost: [], at: .milliseconds(500))
    #expect(rig.keyFrameRequests == [.milliseconds(500)])
  }

  @Test func feedbackThatWasLostWithWhatItWasAboutBringsAKeyFrame() {
    var rig = Rig()
    var reporter = Reporter()
    for time in stride(from: 0, to: 1000, by: 100) {
      rig.sendVideo(packets: 1, at: .milliseconds(time), isKeyFrame: time == 0)
      rig.drain(at: .milliseconds(time))
      if time == 100 { reporter.report(&rig, lost: [], at: .milliseconds(time)) }
    }
    reporter.skip(rig)
    rig.sendVideo(packets: 1, at: .milliseconds(1000))
    rig.drain(at: .milliseconds(1000))
    reporter.report(&rig, lost: [], at: .milliseconds(1050))
    #expect(rig.keyFrameRequests == [.milliseconds(1050)])
  }

  @Test func soundIsNotSentAgain() {
    var rig = Rig()
    var reporter = Reporter()
    rig.sendAudio(at: .milliseconds(0))
    rig.drain(at: .milliseconds(0))
    reporter.report(&rig, lost: [0], at: .milliseconds(50))
    #expect(rig.audio.count == 1)
  }

  @Test func withoutRTXFeedbackBringsNothing() {
    var rig = Rig(rtx: false)
    var reporter = Reporter()
    rig.sendVideo(at: .milliseconds(0), isKeyFrame: true)
    rig.drain(at: .milliseconds(0))
    reporter.report(&rig, lost: [1], at: .milliseconds(50))
    #expect(rig.video.count == 5)
  }

  @Test func onAPathThatReordersOnlyRequestsCount() {
    var rig = Rig()
    rig.sendVideo(packets: 100, at: .milliseconds(0), isKeyFrame: true)
    for time in stride(from: 0, through: 40, by: 4) { rig.drain(at: .milliseconds(time)) }
    let base = rig.packets.first?.packet.extensions(extensionIDs).transportSequenceNumber ?? 0
    // Everything is reported as lost first, and then as arrived.
    for statuses in [
      Array(repeating: RTCPTransportFeedback.PacketStatus.notReceived, count: 60),
      Array(repeating: .received(delta: 4), count: 60),
    ] {
      let feedback = RTCPTransportFeedback(
        senderSSRC: peerSSRC, mediaSSRC: videoSSRC, baseSequenceNumber: base, referenceTime: 100, feedbackCount: 0,
        statuses: statuses)
      rig.sender.handle(rtcp: [.transportFeedback(feedback)], now: .milliseconds(60))
    }
    for time in stride(from: 60, through: 200, by: 4) { rig.drain(at: .milliseconds(time)) }
    let before = rig.retransmissions.count
    let feedback = RTCPTransportFeedback(
      senderSSRC: peerSSRC, mediaSSRC: videoSSRC, baseSequenceNumber: base &+ 80, referenceTime: 101, feedbackCount: 1,
      statuses: [.notReceived, .received(delta: 4)])
    rig.sender.handle(rtcp: [.transportFeedback(feedback)], now: .milliseconds(210))
    rig.drain(at: .milliseconds(210))
    #expect(rig.retransmissions.count == before)
    rig.nack([rig.video[80].header.sequenceNumber], at: .milliseconds(220))
    #expect(rig.retransmissions.count == before + 1)
  }

  // MARK: A lossy path

  /// A call of some seconds over a path with this loss.
  private static func call(loss: Double, cameraKbps: Double = 4000, for duration: Duration = .seconds(12)) -> Call {
    var call = Call(rig: Rig(), link: Bottleneck(bitsPerSecond: 5_000_000))
    call.link.loss = loss
    call.cameraKbps = cameraKbps
    call.run(for: duration)
    return call
  }

  private static func share(_ call: Call, _ kind: (RTPPacket) -> Bool) -> Double {
    let recent = call.rig.packets.filter { call.now - $0.at < .seconds(4) }.map(\.packet)
    return Double(recent.count(where: kind)) / Double(max(1, recent.count { $0.header.ssrc == videoSSRC }))
  }

  /// Once would be a sixth more than what is lost, at most: lost retransmissions are lost again. A full path gets no copies.
  @Test(arguments: [0.04, 0.12])
  func aboveOnePercentEachRetransmissionIsSentTwice(loss: Double) {
    let isRepeat: (RTPPacket) -> Bool = { $0.header.ssrc == rtxSSRC && !$0.payload.isEmpty }
    let double = Self.share(Self.call(loss: loss, cameraKbps: 2000), isRepeat)
    #expect((loss * 4 / 3..<loss * 10 / 3).contains(double), "\(double)")
  }

  @Test func aboveFifteenPercentEachRetransmissionIsSentThreeTimes() {
    let isRepeat: (RTPPacket) -> Bool = { $0.header.ssrc == rtxSSRC && !$0.payload.isEmpty }
    let triple = Self.share(Self.call(loss: 0.2, cameraKbps: 1500), isRepeat)
    // Twice would be 0.5 at most.
    #expect((0.5..<0.9).contains(triple), "\(triple)")
    // With no rate to spare copies are left out, and what was lost is still sent again.
    let tight = Self.share(Self.call(loss: 0.2), isRepeat)
    #expect((0.2..<0.5).contains(tight), "\(tight)")
  }

  @Test func copiesBeginWithinASecond() {
    var call = Self.call(loss: 0, cameraKbps: 1500)
    call.link.loss = 0.2
    call.run(for: .milliseconds(1500))
    let again = call.rig.packets.filter { $0.packet.header.ssrc == rtxSSRC && !$0.packet.payload.isEmpty }
    let late = again.filter { call.now - $0.at < .milliseconds(400) }
    let originals = Set(late.map { $0.packet.payload.prefix(2) })
    #expect(Double(late.count) > 1.8 * Double(originals.count), "\(late.count) of \(originals.count)")
  }

  /// Of what was sent in the last 4 s, the share that was sent again, once or more often.
  private static func shareSentAgain(loss: Double, feedbackLoss: Double) -> Double {
    var call = Call(rig: Rig(), link: Bottleneck(bitsPerSecond: 8_000_000))
    (call.link.loss, call.feedbackLoss, call.cameraKbps) = (loss, feedbackLoss, 1000)
    call.run(for: .seconds(12))
    let recent = call.rig.packets.filter { call.now - $0.at < .seconds(4) }.map(\.packet)
    let again = Set(recent.filter { $0.header.ssrc == rtxSSRC && !$0.payload.isEmpty }.map { $0.payload.prefix(2) })
    return Double(again.count) / Double(recent.count { $0.header.ssrc == videoSSRC })
  }

  @Test func whatLostFeedbackWouldHaveReportedIsSentAgainWhereMuchIsLost() {
    let heavy = Self.shareSentAgain(loss: 0.2, feedbackLoss: 0.3)
    // Of the 70 % that feedback reports a fifth is missing, of the rest nobody knows.
    #expect(heavy > 0.3, "\(heavy)")
    let light = Self.shareSentAgain(loss: 0.03, feedbackLoss: 0.3)
    #expect(light < 0.06, "\(light)")
  }

  /// In units of 10 ms. The path takes 40 ms both ways.
  @Test(arguments: [(0.001, 0...0), (0.02, 9...11), (0.10, 15...15)])
  func viewersAreAskedToWaitForWhatIsLost(loss: Double, minimum: ClosedRange<UInt16>) throws {
    let call = Self.call(loss: loss)
    let asked = try #require(call.rig.video.last?.extensions(extensionIDs).playoutDelay)
    #expect(minimum.contains(asked.minimum) && asked.maximum == 40, "\(asked)")
  }

  @Test func theDelayGrowsInTwoStepsAndEachIsKept() {
    let call = Self.call(loss: 0.10)
    let asked = call.rig.video.compactMap { $0.extensions(extensionIDs).playoutDelay?.minimum }
    let steps = asked.indices.dropFirst().filter { asked[$0] != asked[$0 - 1] }.map { asked[$0] }
    #expect(steps.count == 2 && steps.first.map { (1..<15).contains($0) } == true && steps.last == 15, "\(steps)")
  }

  @Test func tenSecondsAfterTheLossTheDelayIsShortAgain() {
    var call = Self.call(loss: 0.10)
    call.link.loss = 0
    call.run(for: .seconds(9))
    #expect(call.rig.video.last?.extensions(extensionIDs).playoutDelay == .patient)
    call.run(for: .seconds(7))
    #expect(call.rig.video.last?.extensions(extensionIDs).playoutDelay == .live)
  }

  @Test func aShortBlackoutIsNoReasonToWait() {
    var call = Self.call(loss: 0, for: .seconds(5))
    for _ in 0..<3 {
      call.link.isDown = true
      call.run(for: .milliseconds(200))
      call.link.isDown = false
      call.run(for: .seconds(8))
      #expect(call.rig.video.last?.extensions(extensionIDs).playoutDelay == .live)
    }
  }
}
