import RTP
import Testing
import Wire

@testable import RTPReceiving

/// What is done about gaps of all lengths: a key frame is paid for by all viewers, so it is the last resort.
@Suite struct OutageTests {
  private static func frame(_ number: Int, isKeyFrame: Bool = false, packets: Int = 3) -> TestFrame {
    TestFrame(
      number: number, isKeyFrame: isKeyFrame, packets: packets,
      descriptor: VP8PayloadDescriptor(pictureID: .long(UInt16(number))))
  }

  @Test(arguments: [100, 250, 440]) func aBurstOfLossIsMadeGoodWithoutAKeyFrame(milliseconds: Int) {
    var rig = ReceiverRig(roundTrip: 20)
    let frames = [Self.frame(0, isKeyFrame: true), Self.frame(1, packets: 60), Self.frame(2)]
    rig.send(frames[0])
    let lost = rig.packets(of: frames[1])
    rig.run(for: .milliseconds(milliseconds))
    rig.send(frames[2])
    #expect(rig.nacks.first?.numbers.count == 60 && rig.keyFrameRequests.isEmpty)
    rig.run(for: .milliseconds(20))
    lost.forEach { rig.retransmit($0) }
    #expect(rig.frameNumbers(among: frames) == [0, 1, 2])
    rig.run(for: .seconds(2))
    #expect(rig.keyFrameRequests.isEmpty)
  }

  /// A radio that comes and goes: each loss is a new one, and its request is made at once.
  @Test func requestsStayPromptThroughOneOutageAfterTheOther() {
    var rig = ReceiverRig(roundTrip: 20)
    rig.send(Self.frame(0, isKeyFrame: true))
    var delays: [Double] = []
    for round in 1...10 {
      rig.run(for: .milliseconds(500))
      rig.sequenceNumber &+= 80
      let asked = rig.keyFrameRequests.count
      let start = rig.now
      rig.send(Self.frame(round * 10))
      while rig.keyFrameRequests.count == asked, rig.now - start < .seconds(3) { rig.run(for: .milliseconds(5)) }
      delays.append((rig.now - start).inMilliseconds)
      rig.run(for: .milliseconds(40))
      rig.send(Self.frame(round * 10 + 1, isKeyFrame: true))
    }
    #expect(delays.allSatisfy { $0 == 0 }, "\(delays)")
    #expect(rig.keyFrameRequests.count == 10)
  }

  /// What was asked while nothing got through was asked in vain.
  @Test func afterAnOutageTheRequestDoesNotWaitForTheLastOnes() {
    var rig = ReceiverRig(roundTrip: 20)
    rig.send(Self.frame(0, isKeyFrame: true))
    rig.send(Self.frame(1), except: [1])
    rig.run(for: .seconds(5))
    #expect(rig.keyFrameRequests.count >= 4)
    let asked = rig.keyFrameRequests.count
    rig.run(for: .milliseconds(1100))
    #expect(rig.keyFrameRequests.count <= asked + 1)
    let before = rig.keyFrameRequests.count
    rig.send(Self.frame(2))
    #expect(rig.keyFrameRequests.count == before + 1)
  }

  @Test func oneSlowAnswerDoesNotSlowTheRequestsDown() {
    var rig = ReceiverRig(roundTrip: 20)
    for _ in 0..<10 { rig.receiver.noteRoundTripTime(.milliseconds(20)) }
    rig.receiver.noteRoundTripTime(.milliseconds(420))
    rig.send(Self.frame(0, isKeyFrame: true))
    rig.send(Self.frame(1), except: [1])
    rig.run(for: .milliseconds(400))
    #expect(rig.nacks.count >= 3)
  }

  /// Checks of the path are seconds apart; what is sent again tells sooner.
  @Test func retransmissionsTellTheRoundTripTime() {
    var rig = ReceiverRig(roundTrip: 200)
    for number in 0..<40 {
      let packets = rig.packets(of: Self.frame(number, isKeyFrame: number == 0))
      rig.receive(packets[0])
      rig.receive(packets[2])
      rig.run(for: .milliseconds(12))
      rig.retransmit(packets[1])
      rig.run(for: .milliseconds(21))
    }
    let before = rig.nacks.count
    rig.send(Self.frame(40), except: [1])
    rig.run(for: .milliseconds(150))
    #expect(rig.nacks.count - before >= 5)
  }

  /// An answer to the first of two requests is not taken for a quick one to the second.
  @Test func aPathThatGotSlowerIsNoticed() {
    var rig = ReceiverRig(roundTrip: 20)
    for number in 0..<60 {
      let packets = rig.packets(of: Self.frame(number, isKeyFrame: number == 0))
      rig.receive(packets[0])
      rig.receive(packets[2])
      rig.run(for: .milliseconds(30))
      rig.retransmit(packets[1])
      rig.run(for: .milliseconds(3))
    }
    let before = rig.nacks.count
    rig.send(Self.frame(60), except: [1])
    rig.run(for: .milliseconds(30))
    #expect(rig.nacks.count - before == 1)
  }
}
