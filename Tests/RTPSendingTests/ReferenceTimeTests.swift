import RTP
import RTPSending
import Testing
import Wire

/// Receivers that tell their time hear how long ago that was. RFC 3611 section 4.5.
@Suite struct ReferenceTimeTests {
  private static func told(_ ssrc: UInt32 = peerSSRC, time: UInt64) -> RTCPPacket {
    .extendedReport(RTCPExtendedReport(ssrc: ssrc, receiverReferenceTime: time))
  }

  private static func answers(_ rig: Rig) -> [(at: Instant, answers: [RTCPExtendedReport.Answer])] {
    rig.reports.flatMap { report in
      report.packets.compactMap { packet in
        if case .extendedReport(let extended) = packet { (report.at, extended.answers) } else { nil }
      }
    }
  }

  @Test func eachIsAnsweredOnceWithTheNextSenderReport() throws {
    var rig = Rig(answersReferenceTime: true)
    rig.sendVideo(at: .zero)
    rig.drain(at: .zero)
    rig.run(until: .milliseconds(100))
    rig.sender.handle(rtcp: [Self.told(time: 0x1234_5678_9abc_def0)], now: .milliseconds(100))
    rig.run(until: .milliseconds(5000))
    let found = Self.answers(rig)
    #expect(found.count == 1)
    let (at, answers) = try #require(found.first)
    let answer = try #require(answers.first)
    #expect(answers.count == 1 && answer.ssrc == peerSSRC && answer.lastReceiverReport == 0x5678_9abc)
    let told = Double(answer.delaySinceLastReceiverReport) / 65536
    #expect(abs(told - (at - .milliseconds(100)).inSeconds) < 0.001)
    // A compound packet begins with a report and has a name.
    let packets = try #require(rig.reports.first { $0.at == at }).packets
    guard case .senderReport = packets[0], case .sourceDescription = packets[1] else {
      Issue.record("no report with a name before it")
      return
    }
  }

  @Test func theLatestTimeOfEachReceiverIsAnsweredAndThereAreFew() throws {
    var rig = Rig(answersReferenceTime: true)
    rig.sendVideo(at: .zero)
    rig.drain(at: .zero)
    for receiver: UInt32 in 0..<1000 {
      rig.sender.handle(rtcp: [Self.told(receiver % 500, time: UInt64(receiver) << 16)], now: .milliseconds(10))
    }
    rig.run(until: .milliseconds(3000))
    let answers = try #require(Self.answers(rig).first).answers
    #expect(answers.map(\.ssrc) == Array(492..<500))
    #expect(answers.map(\.lastReceiverReport) == Array(992..<1000))
  }

  @Test func whoDidNotNegotiateItIsNotAnswered() {
    var rig = Rig()
    rig.sendVideo(at: .zero)
    rig.drain(at: .zero)
    rig.sender.handle(rtcp: [Self.told(time: 1 << 32)], now: .milliseconds(10))
    rig.run(until: .milliseconds(5000))
    #expect(rig.reports.count > 2 && Self.answers(rig).isEmpty)
  }
}
