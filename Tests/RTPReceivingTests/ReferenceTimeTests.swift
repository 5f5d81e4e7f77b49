import RTP
import Testing
import Wire

@testable import RTPReceiving

/// A participant that only receives knows its round-trip time from the answers to its own. RFC 3611 sections 4.4 and 4.5.
@Suite struct ReferenceTimeTests {
  private static func rig() -> ReceiverRig {
    var stream = RTPReceiveStreamConfiguration.video()
    stream.supportsReferenceTime = true
    var rig = ReceiverRig(video: stream)
    rig.send(TestFrame(number: 0, isKeyFrame: true))
    return rig
  }

  private static func times(_ rig: ReceiverRig) -> [(at: Instant, time: UInt64)] {
    rig.reports.flatMap { report in
      report.packets.compactMap { packet in
        if case .extendedReport(let extended) = packet, let time = extended.receiverReferenceTime {
          (report.at, time)
        } else {
          nil
        }
      }
    }
  }

  private static func answer(to time: UInt64, heldFor held: Duration, ssrc: UInt32 = ourSSRC) -> RTCPPacket {
    .extendedReport(
      RTCPExtendedReport(
        ssrc: videoSSRC,
        answers: [
          .init(
            ssrc: ssrc, lastReceiverReport: RTCPExtendedReport.compact(ntpTime: time),
            delaySinceLastReceiverReport: UInt32(held.inSeconds * 65536))
        ]))
  }

  @Test func ourTimeGoesOutWithEachReportAndRunsAsTheClockDoes() throws {
    var rig = Self.rig()
    rig.run(for: .seconds(30))
    let times = Self.times(rig)
    #expect(times.count == rig.reports.count && times.count > 20)
    let first = try #require(times.first)
    for (at, time) in times {
      let elapsed = Double(time &- first.time) / 4_294_967_296
      #expect(abs(elapsed - (at - first.at).inSeconds) < 0.0001)
    }
    // Nobody learns from it for how long this machine has been running.
    #expect(first.time >> 32 > 1000)
  }

  @Test func theRoundTripIsWhatTheAnswerDidNotWait() throws {
    var rig = Self.rig()
    rig.run(for: .seconds(2))
    let sent = try #require(Self.times(rig).last)
    let arrival = sent.at + .milliseconds(340)
    rig.run(for: arrival - rig.now)
    // A report of ours may have gone out since.
    rig.receiver.handle(rtcp: [Self.answer(to: sent.time, heldFor: .milliseconds(300))], now: rig.now)
    let measured = rig.video.roundTrips
    let roundTrip = try #require(measured.roundTripTime)
    #expect(abs(roundTrip - (rig.now - sent.at).inSeconds + 0.3) < 0.001)
    #expect(measured.roundTripTimeMeasurements == 1)
    // Requests are repeated at that pace.
    let before = rig.receiver.streams[0].nacks.roundTripTime
    #expect(before > .milliseconds(20))
  }

  @Test func whatWeDidNotAskForMeasuresNothing() throws {
    var rig = Self.rig()
    rig.run(for: .seconds(2))
    let sent = try #require(Self.times(rig).last)
    let answers = [
      Self.answer(to: sent.time &+ (1 << 16), heldFor: .zero),
      Self.answer(to: 0, heldFor: .zero),
      Self.answer(to: sent.time, heldFor: .zero, ssrc: 77),
      // It cannot have waited longer than it took.
      Self.answer(to: sent.time, heldFor: .seconds(600)),
    ]
    rig.receiver.handle(rtcp: answers, now: rig.now)
    #expect(rig.video.roundTrips.roundTripTimeMeasurements == 0)
    #expect(rig.receiver.streams[0].nacks.roundTripTime == .milliseconds(20))
  }

  @Test func anAnswerCountsOnce() throws {
    var rig = Self.rig()
    rig.run(for: .seconds(2))
    let sent = try #require(Self.times(rig).last)
    for _ in 0..<5 { rig.receiver.handle(rtcp: [Self.answer(to: sent.time, heldFor: .zero)], now: rig.now) }
    #expect(rig.video.roundTrips.roundTripTimeMeasurements == 1)
  }

  @Test func withoutNegotiationOurTimeIsNotTold() {
    var rig = ReceiverRig()
    rig.send(TestFrame(number: 0, isKeyFrame: true))
    rig.run(for: .seconds(5))
    #expect(rig.reports.count > 2 && Self.times(rig).isEmpty)
  }
}
