import RTP
import RTPSending
import TestSupport
import Testing
import Wire

@Suite struct ReportTests {
  private func senderReport(_ packets: [RTCPPacket]) -> RTCPSenderReport? {
    guard case .senderReport(let report)? = packets.first else { return nil }
    return report
  }

  @Test func theFirstReportFollowsTheFirstPacket() throws {
    var rig = Rig()
    #expect(rig.sender.nextDeadline == nil)
    rig.sendVideo(packets: 3, at: .milliseconds(100))
    rig.drain(at: .milliseconds(100))
    let report = try #require(senderReport(rig.reports[0].packets))
    #expect(rig.reports.count == 1)
    #expect(report.ssrc == videoSSRC)
    #expect(report.packetCount == 1 && report.octetCount == 1000)
    #expect(report.rtpTimestamp == rig.video[0].header.timestamp)
    #expect(report.ntpTime >> 32 == 1_700_000_000 + 2_208_988_800)
    #expect(
      rig.reports[0].packets[1]
        == .sourceDescription(RTCPSourceDescription(chunks: [.init(ssrc: videoSSRC, cname: "cradle")])))
  }

  @Test func reportsComeEachSecondAtRandom() {
    var rig = Rig()
    rig.sendVideo(at: .zero)
    rig.drain(at: .zero)
    rig.run(until: .milliseconds(60_000))
    let times = rig.reports.map(\.at)
    let gaps = zip(times, times.dropFirst()).map { ($1 - $0).inSeconds }
    #expect(gaps.allSatisfy { (0.5...1.5).contains($0) })
    #expect((50...72).contains(gaps.count))
    #expect(Set(gaps.map { Int($0 * 100) }).count > 20)
  }

  /// So that many viewers do not wake the loop for each report.
  @Test func reportsGoWithMediaThatIsSentAnyway() {
    var rig = Rig()
    for packet in 0..<500 {
      let now = Instant.milliseconds(20 * packet)
      rig.run(until: now)
      rig.sendAudio(at: now)
      rig.drain(at: now)
    }
    #expect((7...20).contains(rig.reports.count))
    #expect(rig.reports.allSatisfy { $0.at.nanoseconds % 20_000_000 == 0 })
  }

  /// By which a viewer knows how old a picture is that it shows.
  @Test func whenTheLastPictureWasCapturedIsTold() throws {
    var rig = Rig()
    #expect(rig.sender.statistics()[1].latest == nil)
    rig.sendVideo(at: .milliseconds(40))
    rig.sendVideo(at: .milliseconds(73))
    rig.drain(at: .milliseconds(73))
    let latest = try #require(rig.sender.statistics()[1].latest)
    #expect(latest.rtpTimestamp == rig.video.last?.header.timestamp)
    #expect(latest.captureTimestamp == 1_700_000_000_073)
  }

  @Test func timestampsOfReportsFollowTheClockOfTheMedia() throws {
    var rig = Rig()
    rig.sendVideo(packets: 1, at: .milliseconds(40))
    rig.drain(at: .milliseconds(40))
    let base = rig.video[0].header.timestamp
    rig.run(until: .milliseconds(4000))
    for (at, packets) in rig.reports {
      let report = try #require(senderReport(packets))
      let expected = (at - .milliseconds(40)).inSeconds * 90_000
      #expect(abs(Double(report.rtpTimestamp &- base) - expected) < 2)
    }
  }

  @Test func soundAndPictureOfOneMomentMeetInTheReports() throws {
    var rig = Rig()
    rig.sendAudio(at: .milliseconds(20))
    rig.drain(at: .milliseconds(20))
    rig.sendVideo(packets: 1, at: .milliseconds(33))
    rig.drain(at: .milliseconds(33))
    let sound = try #require(senderReport(rig.reports[0].packets))
    let picture = try #require(senderReport(rig.reports[1].packets))
    func seconds(_ ntp: UInt64) -> Double { Double(ntp >> 32) + Double(ntp & 0xffff_ffff) / 4_294_967_296 }
    let soundAt =
      seconds(sound.ntpTime) + Double(Int32(bitPattern: rig.audio[0].header.timestamp &- sound.rtpTimestamp)) / 48_000
    let pictureAt =
      seconds(picture.ntpTime)
      + Double(Int32(bitPattern: rig.video[0].header.timestamp &- picture.rtpTimestamp)) / 90_000
    #expect(abs(pictureAt - soundAt - 0.013) < 0.0001)
  }

  @Test func aStepOfTheWallClockShowsInTheNextReportAndNotInTheRoundTripTime() throws {
    var rig = Rig()
    rig.sendVideo(packets: 1, at: .zero)
    rig.drain(at: .zero)
    let first = try #require(senderReport(rig.reports[0].packets))
    rig.sender.setWallClock(
      WallClockReference(instant: .zero, unixNanoseconds: 1_800_000_000_000_000_000), now: .milliseconds(10))
    let block = RTCPReportBlock(
      ssrc: videoSSRC, fractionLost: 64, cumulativeLost: 7, jitter: 900, lastSenderReport: first.compactNTPTime,
      delaySinceLastSenderReport: 65536 / 10)
    rig.sender.handle(
      rtcp: [.receiverReport(RTCPReceiverReport(ssrc: peerSSRC, reportBlocks: [block]))], now: .milliseconds(142))
    let statistics = rig.sender.statistics()[1]
    #expect(abs(try #require(statistics.roundTripTime) - 0.042) < 0.001)
    #expect(statistics.roundTripTimeMeasurements == 1)
    #expect(statistics.fractionLost == 0.25)
    #expect(statistics.packetsLost == 7)
    #expect(statistics.jitter == 0.01)
    rig.run(until: .milliseconds(2000))
    let second = try #require(senderReport(rig.reports[1].packets))
    #expect(second.ntpTime >> 32 >= 1_800_000_000 + 2_208_988_800)
  }

  /// Until the slower report they would seem to be apart by the step.
  @Test func afterAStepOfTheWallClockSoundAndPictureReportAtOnce() {
    var rig = Rig()
    let now = Instant.milliseconds(200)
    rig.sendAudio(at: .zero)
    rig.sendVideo(packets: 1, at: .zero)
    rig.drain(at: .zero)
    let before = rig.reports.count
    let unix: Int64 = 1_700_000_000_000_000_000
    // The clock goes evenly, or a little fast.
    rig.sender.setWallClock(WallClockReference(instant: now, unixNanoseconds: unix + 203_000_000), now: now)
    rig.drain(at: now)
    #expect(rig.reports.count == before)
    rig.sender.setWallClock(WallClockReference(instant: now, unixNanoseconds: unix + 3_600_000_000_000), now: now)
    rig.drain(at: now)
    let reports = rig.reports.dropFirst(before).compactMap { senderReport($0.packets) }
    #expect(Set(reports.map(\.ssrc)) == [audioSSRC, videoSSRC])
    #expect(reports.allSatisfy { $0.ntpTime >> 32 == 1_700_003_600 + 2_208_988_800 })
  }

  @Test func oneSlowReportDoesNotMakeThePathSlow() throws {
    var rig = Rig()
    rig.sendVideo(packets: 50, size: 100, at: .zero)
    rig.drain(at: .zero)
    var now = Instant.zero
    for round in 0..<8 {
      rig.run(until: now + .milliseconds(2000))
      let report = try #require(rig.reports.last)
      let sent = try #require(senderReport(report.packets))
      now = report.at + .milliseconds(round == 7 ? 420 : 20)
      let block = RTCPReportBlock(ssrc: videoSSRC, lastSenderReport: sent.compactNTPTime)
      rig.sender.handle(
        rtcp: [.receiverReport(RTCPReceiverReport(ssrc: peerSSRC, reportBlocks: [block]))], now: now)
    }
    #expect(abs(try #require(rig.sender.statistics()[1].roundTripTime) - 0.42) < 0.001)
    rig.sendVideo(packets: 1, at: now)
    rig.drain(at: now)
    let number = try #require(rig.video.last?.header.sequenceNumber)
    // The same packet again after 80 ms: it was lost again, and is not still under way.
    rig.nack([number], at: now + .milliseconds(20))
    rig.nack([number], at: now + .milliseconds(100))
    #expect(rig.retransmissions.count == 2)
  }

  /// A peer without transport-wide feedback tells of loss in its reports alone.
  @Test func lossIsKnownFromReportsWhereThereIsNoOtherFeedback() {
    var rig = Rig(transportCC: false)
    func report(_ ssrc: UInt32, highest: UInt32, lost: UInt8, at now: Instant) {
      let block = RTCPReportBlock(ssrc: ssrc, fractionLost: lost, extendedHighestSequenceNumber: highest)
      rig.sender.handle(
        rtcp: [.receiverReport(RTCPReceiverReport(ssrc: peerSSRC, reportBlocks: [block]))], now: now)
    }
    for second in 0..<12 {
      let now = Instant.zero + .seconds(second)
      report(videoSSRC, highest: UInt32(100 * second), lost: 5, at: now)
      report(77, highest: UInt32(100 * second), lost: 255, at: now)
    }
    let loss = rig.sender.fractionLost(now: .zero + .seconds(11))
    #expect(loss > 0.015 && loss < 0.025)
    #expect(rig.sender.fractionLost(now: .zero + .seconds(25)) == 0)
  }

  /// What an open session does not prove, a receiver's counters do.
  @Test func whatArrivedIsKnownFromReportsThatAdvance() throws {
    var rig = Rig()
    for _ in 0..<100 { rig.sendAudio(at: .zero) }
    rig.drain(at: .zero)
    var highest = UInt32(try #require(rig.audio.first?.header.sequenceNumber))
    func report(_ advance: UInt32, lost: Int32, ssrc: UInt32 = audioSSRC) -> UInt64 {
      highest &+= advance
      let block = RTCPReportBlock(ssrc: ssrc, cumulativeLost: lost, extendedHighestSequenceNumber: highest)
      rig.sender.handle(
        rtcp: [.receiverReport(RTCPReceiverReport(ssrc: peerSSRC, reportBlocks: [block]))], now: .zero)
      return rig.sender.packetsReceivedByPeer(.audio)
    }
    // The first one has nothing to compare with.
    #expect(report(0, lost: 0) == 0)
    #expect(report(30, lost: 0) == 30)
    #expect(report(20, lost: 5) == 45)
    // Again and again the same report proves nothing.
    #expect(report(0, lost: 5) == 45 && report(0, lost: 5) == 45)
    // All of it was lost.
    #expect(report(10, lost: 15) == 45)
    // Another stream's, and one that goes back.
    #expect(report(5, lost: 15, ssrc: videoSSRC) == 45)
    #expect(report(.max - 100, lost: 15) == 45)
    // No more than was sent, whatever is claimed.
    #expect(report(1_000_000, lost: 15) <= 100 && report(1_000_000_000, lost: .min) <= 100)
    #expect(rig.sender.packetsReceivedByPeer(.video) == 0)
  }

  @Test func inventedReferencesMakeNoRoundTripTime() {
    var rig = Rig()
    rig.sendVideo(packets: 1, at: .zero)
    rig.drain(at: .zero)
    let blocks = [
      RTCPReportBlock(ssrc: videoSSRC), RTCPReportBlock(ssrc: videoSSRC, lastSenderReport: 1),
      RTCPReportBlock(ssrc: videoSSRC, lastSenderReport: .max, delaySinceLastSenderReport: .max),
    ]
    rig.sender.handle(
      rtcp: [
        .senderReport(
          RTCPSenderReport(ssrc: 1, ntpTime: 0, rtpTimestamp: 0, packetCount: 0, octetCount: 0, reportBlocks: blocks))
      ],
      now: .milliseconds(10))
    #expect(rig.sender.statistics()[1].roundTripTime == nil)
  }

  @Test func stoppingSaysGoodbyeForAllThatWasSent() {
    var rig = Rig()
    rig.sendAudio(at: .zero)
    rig.sendVideo(packets: 50, at: .zero)
    rig.drain(at: .zero)
    let sent = rig.packets.count
    rig.sender.stop(now: .milliseconds(5))
    rig.drain(at: .milliseconds(5))
    #expect(rig.packets.count == sent)
    #expect(rig.reports.last?.packets.last == .goodbye(RTCPGoodbye(sources: [audioSSRC, videoSSRC, rtxSSRC])))
    #expect(rig.sender.nextDeadline == nil)
    rig.sendAudio(at: .milliseconds(20))
    rig.sender.stop(now: .milliseconds(20))
    rig.sender.handleTimeout(now: .milliseconds(9000))
    #expect(rig.sender.poll(now: .milliseconds(9000)) == nil)
  }

  @Test func statisticsCountHeadersApart() {
    var rig = Rig()
    rig.sendVideo(packets: 4, size: 500, at: .zero, isKeyFrame: true)
    rig.sendVideo(packets: 1, size: 100, at: .zero)
    rig.drain(at: .zero)
    let statistics = rig.sender.statistics()[1]
    #expect(statistics.ssrc == videoSSRC && statistics.rtxSsrc == rtxSSRC && statistics.mid == "1")
    #expect(statistics.packetsSent == 5)
    #expect(statistics.bytesSent == 2100)
    #expect(Int(statistics.headerBytesSent) == rig.packets.reduce(0) { $0 + $1.bytes.count } - 2100)
    #expect(statistics.framesSent == 2 && statistics.keyFramesSent == 1)
    #expect(statistics.availableOutgoingBitrate == 1_500_000)
  }
}
