import RTP
import Testing
import Wire

@testable import RTPReceiving

/// Transport-wide feedback: all that came and all that did not, with the right times.
@Suite struct FeedbackTests {
  /// When each packet arrived as a sender reads it, in nanoseconds; nil for lost ones.
  private static func read(_ feedback: [RTCPTransportFeedback]) -> [UInt16: Int64?] {
    var result: [UInt16: Int64?] = [:]
    for report in feedback {
      var time = Int64(report.referenceTime) * RTCPTransportFeedback.referenceNanoseconds
      var number = report.baseSequenceNumber
      for status in report.statuses {
        switch status {
        case .received(let delta):
          time += Int64(delta) * RTCPTransportFeedback.deltaNanoseconds
          result[number] = .some(time)
        case .notReceived:
          if result[number] == nil { result[number] = .some(nil) }
        }
        number &+= 1
      }
    }
    return result
  }

  private static func builder() -> TransportFeedbackBuilder {
    TransportFeedbackBuilder(senderSSRC: ourSSRC, interval: .milliseconds(50))
  }

  @Test func soundAndPictureShareOneCount() throws {
    var rig = ReceiverRig(audio: .audio())
    var number: UInt16 = 0xfffa
    var sent: [UInt16: Instant] = [:]
    func send(audio: Bool, index: Int) {
      defer { number &+= 1 }
      guard index % 7 != 3 else { return }
      var extensions = RTPHeaderExtensions()
      extensions.transportSequenceNumber = number
      let header = RTPHeader(
        marker: true, payloadType: audio ? 111 : 96, sequenceNumber: UInt16(index), timestamp: UInt32(index) * 960,
        ssrc: audio ? audioSSRC : videoSSRC)
      let payload = audio ? [0xf8, 1, 2] : TestFrame(number: index, isKeyFrame: true, packets: 1).rtpPayload(0)
      rig.receive(RTPPacket.write(header: header, extensions: extensions, ids: negotiatedIDs, payload: payload).bytes)
      sent[number] = rig.now
    }
    for index in 0..<100 {
      send(audio: true, index: index)
      rig.run(for: .milliseconds(3))
      send(audio: false, index: index)
      rig.run(for: .milliseconds(17))
    }
    rig.run(for: .milliseconds(100))
    let read = Self.read(rig.feedback)
    #expect(sent.allSatisfy { abs(((read[$0.key] ?? nil) ?? .min / 2) - $0.value.nanoseconds) <= 250_000 })
    #expect(read.values.count { $0 == nil } >= 26)
    // Of fewer than ten packets in 100 ms: 33 ms from the first one that was not told of, with the next packet or half as
    // long after it.
    #expect((40...50).contains(rig.feedback.count))
    #expect(rig.feedback.enumerated().allSatisfy { Int($0.element.feedbackCount) == $0.offset })
  }

  @Test func nothingIsSentWhileNothingComes() {
    var builder = Self.builder()
    #expect(builder.nextDeadline == nil)
    builder.noteArrival(5, mediaSSRC: 1, now: .zero)
    #expect(builder.takeDue(now: .milliseconds(49)).isEmpty)
    #expect(builder.takeDue(now: .milliseconds(50)).count == 1)
    #expect(builder.takeDue(now: .milliseconds(500)).isEmpty && builder.nextDeadline == nil)
  }

  /// On a narrow path a queue grows within a few packets.
  @Test func ofFewPacketsIsToldMoreOften() {
    var builder = Self.builder()
    var (number, sent): (UInt16, [Int]) = (0, [])
    func run(from begin: Int, for milliseconds: Int, packetEvery interval: Int) {
      for time in begin..<begin + milliseconds {
        if time % interval == 0 {
          builder.noteArrival(number, mediaSSRC: 1, now: .milliseconds(time))
          number += 1
        }
        if !builder.takeDue(now: .milliseconds(time)).isEmpty { sent.append(time) }
      }
    }
    run(from: 0, for: 1000, packetEvery: 2)
    #expect((18...20).contains(sent.count))
    sent = []
    run(from: 1000, for: 1000, packetEvery: 10)
    #expect((40...50).contains(sent.count))
    sent = []
    run(from: 2000, for: 1000, packetEvery: 2)
    #expect((18...21).contains(sent.count))
  }

  @Test func aPacketThatComesAfterItWasReportedLostIsReportedAgain() {
    var builder = Self.builder()
    builder.noteArrival(1, mediaSSRC: 1, now: .zero)
    builder.noteArrival(3, mediaSSRC: 1, now: .milliseconds(1))
    var feedback = builder.takeDue(now: .milliseconds(50))
    #expect(Self.read(feedback)[2] == .some(nil))
    builder.noteArrival(2, mediaSSRC: 1, now: .milliseconds(60))
    builder.noteArrival(3, mediaSSRC: 1, now: .milliseconds(61))
    feedback += builder.takeDue(now: .milliseconds(110))
    #expect(Self.read(feedback)[2] == .some(60_000_000) && Self.read(feedback)[3] == .some(1_000_000))
  }

  @Test func aLongPauseBetweenTwoPacketsFits() {
    var builder = Self.builder()
    builder.noteArrival(1, mediaSSRC: 1, now: .zero)
    builder.noteArrival(2, mediaSSRC: 1, now: .seconds(20))
    let feedback = builder.takeDue(now: .seconds(20))
    #expect(feedback.count == 2)
    #expect(Self.read(feedback) == [1: 0, 2: 20_000_000_000])
  }

  @Test func manyPacketsGoIntoSeveralMessages() {
    var builder = Self.builder()
    for number: UInt16 in 0..<1500 where number % 3 != 0 {
      builder.noteArrival(number &+ 65_000, mediaSSRC: 1, now: .zero + .microseconds(number % 2 == 0 ? 90_000 : 0))
    }
    let feedback = builder.takeDue(now: .seconds(1))
    #expect(feedback.allSatisfy { RTCPPacket.write(compound: [.transportFeedback($0)]).count <= 1150 })
    let read = Self.read(feedback)
    #expect(read.count == 1499 && read.values.count { $0 != nil } == 1000)
  }

  @Test func aCountThatBeginsAnewIsFollowed() {
    var builder = Self.builder()
    builder.noteArrival(30_000, mediaSSRC: 1, now: .zero)
    _ = builder.takeDue(now: .seconds(1))
    for number: UInt16 in 10_000..<10_020 { builder.noteArrival(number, mediaSSRC: 1, now: .seconds(2)) }
    let read = Self.read(builder.takeDue(now: .seconds(3)))
    #expect(read[10_019] == .some(2_000_000_000) && read.count <= 13)
    builder.noteArrival(40_000, mediaSSRC: 1, now: .seconds(4))
    #expect(Self.read(builder.takeDue(now: .seconds(5))) == [40_000: 4_000_000_000])
  }
}
