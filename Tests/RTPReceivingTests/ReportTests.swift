import RTP
import Testing
import Wire

@testable import RTPReceiving

/// What the sender hears of us in the rhythm of reports, and what its own reports tell.
@Suite struct ReportTests {
  private static func senderReport(ssrc: UInt32 = videoSSRC, unixSeconds: UInt64, timestamp: UInt32) -> RTCPPacket {
    .senderReport(
      RTCPSenderReport(
        ssrc: ssrc, ntpTime: (unixSeconds + 2_208_988_800) << 32, rtpTimestamp: timestamp, packetCount: 1, octetCount: 1
      ))
  }

  private static func blocks(_ rig: ReceiverRig) -> [[RTCPReportBlock]] {
    rig.reports.flatMap(\.packets).compactMap { packet in
      if case .receiverReport(let report) = packet { report.reportBlocks } else { nil }
    }
  }

  @Test func reportsGoOutAboutOnceASecondWithACanonicalName() {
    var rig = ReceiverRig()
    #expect(rig.receiver.nextDeadline == nil)
    rig.send(TestFrame(number: 0, isKeyFrame: true))
    rig.run(for: .seconds(60))
    #expect((45...75).contains(rig.reports.count))
    for report in rig.reports {
      guard case .receiverReport(let receiverReport) = report.packets.first else {
        Issue.record("a compound packet begins with a report")
        continue
      }
      #expect(receiverReport.ssrc == ourSSRC)
      #expect(
        report.packets.last == .sourceDescription(RTCPSourceDescription(chunks: [.init(ssrc: ourSSRC, cname: "us")])))
    }
    let gaps = zip(rig.reports, rig.reports.dropFirst()).map { ($1.at - $0.at).inMilliseconds }
    #expect(gaps.allSatisfy { (500...1500).contains($0) } && Set(gaps.map { Int($0) }).count > 20)
  }

  @Test func reportsTellLossOfTheirInterval() throws {
    var stream = RTPReceiveStreamConfiguration.video()
    stream.supportsNACK = false
    var rig = ReceiverRig(video: stream)
    rig.sequenceNumber = 0xfff0
    for number in 0..<64 {
      if number % 4 == 3 { rig.sequenceNumber &+= 1 } else { rig.send(TestFrame(number: number, packets: 1)) }
    }
    rig.run(for: .seconds(2))
    let blocks = Self.blocks(rig).compactMap(\.first)
    let first = try #require(blocks.first)
    // The last of the 64 was lost, which nobody knows yet.
    #expect(first.ssrc == videoSSRC && first.cumulativeLost == 15 && first.fractionLost == UInt8(15 * 256 / 63))
    #expect(first.extendedHighestSequenceNumber == 0xfff0 + 62)
    #expect(blocks[1].fractionLost == 0 && blocks[1].cumulativeLost == 15)
    #expect(rig.video.packetsLost == 15)
  }

  @Test func theRoundTripCanBeMeasured() throws {
    var rig = ReceiverRig()
    rig.send(TestFrame(number: 0, isKeyFrame: true))
    rig.run(for: .milliseconds(100))
    rig.receiver.handle(rtcp: [Self.senderReport(unixSeconds: 1_700_000_000, timestamp: 0)], now: rig.now)
    rig.run(for: .seconds(3))
    let report = try #require(rig.reports.last)
    let block = try #require(Self.blocks(rig).last?.first)
    #expect(block.lastSenderReport == UInt32(truncatingIfNeeded: (1_700_000_000 + 2_208_988_800) << 16))
    let delay = Double(block.delaySinceLastSenderReport) / 65536
    #expect(abs(delay - (report.at - .milliseconds(100)).inSeconds) < 0.001)
  }

  @Test func bothSourcesOfAStreamAreReported() throws {
    var rig = ReceiverRig()
    let packets = rig.packets(of: TestFrame(number: 0, isKeyFrame: true))
    rig.receive(packets[0])
    rig.receive(packets[2])
    rig.retransmit(packets[1])
    rig.run(for: .seconds(1))
    #expect(try #require(Self.blocks(rig).first).map(\.ssrc) == [videoSSRC, rtxSSRC])
  }

  @Test func jitterIsThatOfRFC3550() {
    var statistics = ReceiveStatistics(clockRate: 90_000)
    // Every other packet 10 ms late: differences of 10 ms, to which the estimate converges.
    for number in 0..<400 {
      let late = number % 2 == 0 ? 0 : 10
      statistics.receive(
        sequence: Int64(number), timestamp: 0xffff_0000 &+ UInt32(number) * 1800, now: .milliseconds(number * 20 + late)
      )
    }
    #expect(abs(statistics.jitterSeconds - 0.010) < 0.0001)
    #expect(statistics.lost == 0)
  }

  @Test func lossIsClampedToItsField() {
    var statistics = ReceiveStatistics(clockRate: 90_000)
    statistics.receive(sequence: 0, timestamp: 0, now: .zero)
    statistics.receive(sequence: 10_000_000, timestamp: 0, now: .zero)
    let report = statistics.takeReport()
    #expect(report.cumulativeLost == 0x7f_ffff && report.fractionLost == 255)
  }

  @Test func framesCarryTheirCaptureTimeOnceASenderReportCame() throws {
    var rig = ReceiverRig()
    rig.timestampOffset = 0xffff_fff0
    rig.send(TestFrame(number: 0, isKeyFrame: true))
    #expect(rig.frames[0].frame.captureTime == nil)
    rig.receiver.handle(
      rtcp: [Self.senderReport(unixSeconds: 1_700_000_000, timestamp: 0xffff_fff0 &+ 90_000)], now: rig.now)
    rig.send(TestFrame(number: 1))
    let captured = try #require(rig.frames[1].frame.captureTime)
    // 3000 units after the first frame, which was a second before the report.
    #expect(captured == Instant(nanoseconds: 1_699_999_999_000_000_000) + .nanoseconds(33_333_334))
  }

  @Test func ntpTimeHasAnEraAfter2036() {
    #expect(SenderClock.unixTime(ntpTime: 2_208_988_800 << 32) == .zero)
    #expect(SenderClock.unixTime(ntpTime: 0) == Instant(nanoseconds: ((1 << 32) - 2_208_988_800) * 1_000_000_000))
    #expect(SenderClock.unixTime(ntpTime: .max).nanoseconds > 0)
  }

  @Test func compoundFeedbackBeginsWithAReport() {
    var stream = RTPReceiveStreamConfiguration.video()
    stream.reducedSizeRTCP = false
    var rig = ReceiverRig(video: stream)
    rig.send(TestFrame(number: 1))
    #expect(rig.reports.count == 1 && rig.reports[0].packets.count == 3)
    #expect(rig.reports[0].packets.first == .receiverReport(RTCPReceiverReport(ssrc: ourSSRC)))
    var reduced = ReceiverRig()
    reduced.send(TestFrame(number: 1))
    #expect(reduced.reports.map(\.packets.count) == [1])
  }

  @Test(arguments: [true, false]) func pictureWaitsForTheSoundOfItsMoment(sharesClock: Bool) throws {
    var rig = ReceiverRig(audio: .audio())
    func sendSound(_ number: Int) {
      let header = RTPHeader(
        payloadType: 111, sequenceNumber: UInt16(number), timestamp: UInt32(number) * 960, ssrc: audioSSRC)
      rig.receive(RTPPacket(header: header, payload: [0xf8, 1, 2]))
    }
    sendSound(0)
    rig.send(TestFrame(number: 0, isKeyFrame: true))
    #expect(rig.receiver.soundLag(of: rig.frames[0].frame, now: rig.now) == nil)
    rig.receiver.handle(
      rtcp: [
        Self.senderReport(unixSeconds: 1_700_000_000, timestamp: 0),
        Self.senderReport(ssrc: audioSSRC, unixSeconds: 1_700_000_000, timestamp: 0),
        .sourceDescription(
          RTCPSourceDescription(chunks: [
            .init(ssrc: videoSSRC, cname: "them"), .init(ssrc: audioSSRC, cname: sharesClock ? "them" : "others"),
          ])),
      ], now: rig.now)
    for number in 1..<50 {
      rig.run(for: .milliseconds(20))
      sendSound(number)
    }
    // 980 ms after the beginning, and so is the frame.
    var frame = TestFrame(number: 0, packets: 1)
    frame.isKeyFrame = true
    let header = RTPHeader(
      marker: true, payloadType: 96, sequenceNumber: rig.sequenceNumber, timestamp: 980 * 90, ssrc: videoSSRC)
    rig.receive(RTPPacket(header: header, payload: frame.rtpPayload(0)[...]))
    let received = try #require(rig.frames.last?.frame)
    guard sharesClock else {
      #expect(rig.receiver.soundLag(of: received, now: rig.now) == nil)
      return
    }
    // As long as sound is buffered.
    let lag = try #require(rig.receiver.soundLag(of: received, now: rig.now)).inMilliseconds
    #expect((15...60).contains(lag))
    let later = try #require(
      rig.receiver.soundLag(of: received, soundOutputDelay: .milliseconds(50), now: rig.now))
    #expect(abs(later.inMilliseconds - lag - 50) < 0.001)
    // Its sound has been heard meanwhile.
    let missed = try #require(rig.receiver.soundLag(of: received, now: rig.now + .milliseconds(400)))
    #expect(abs(missed.inMilliseconds - lag + 400) < 0.001)
    #expect(rig.receiver.soundLag(of: received, now: rig.now + .milliseconds(600)) == nil)
  }
}
