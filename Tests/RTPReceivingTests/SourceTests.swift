import RTP
import Testing
import Wire

@testable import RTPReceiving

/// Which packet belongs to which stream, and what happens when a sender ends or begins anew.
@Suite struct SourceTests {
  private static func packet(
    payloadType: UInt8 = 96, sequenceNumber: UInt16 = 0, ssrc: UInt32, mid: String? = nil, frame: Int = 0,
    isKeyFrame: Bool = true
  ) -> [UInt8] {
    var extensions = RTPHeaderExtensions()
    extensions.mid = mid
    let frame = TestFrame(number: frame, isKeyFrame: isKeyFrame, packets: 1)
    let header = RTPHeader(
      marker: true, payloadType: payloadType, sequenceNumber: sequenceNumber, timestamp: UInt32(frame.number) * 3000,
      ssrc: ssrc)
    return RTPPacket.write(header: header, extensions: extensions, ids: negotiatedIDs, payload: frame.rtpPayload(0))
      .bytes
  }

  private static func twoVideos() -> ReceiverRig {
    var rig = ReceiverRig()
    var second = RTPReceiveStreamConfiguration.video()
    second.mid = "2"
    second.remoteSSRCs = [77]
    rig.receiver.addStream(second)
    return rig
  }

  @Test func theNameOfTheSectionTells() {
    var rig = Self.twoVideos()
    rig.receive(Self.packet(ssrc: 5, mid: "2"))
    rig.receive(Self.packet(ssrc: 6, mid: "1"))
    #expect(rig.frames.map(\.frame.mid) == ["2", "1"])
    // Later packets need not name it.
    rig.receive(Self.packet(sequenceNumber: 1, ssrc: 5))
    #expect(rig.frames.map(\.frame.mid) == ["2", "1", "2"])
  }

  @Test func announcedSourcesAreKnown() {
    var rig = Self.twoVideos()
    rig.receive(Self.packet(ssrc: 77))
    #expect(rig.frames.map(\.frame.mid) == ["2"])
  }

  @Test func thePayloadTypeTellsWhereItIsNotShared() {
    var rig = Self.twoVideos()
    rig.receive(Self.packet(ssrc: 5))
    #expect(rig.frames.isEmpty && rig.receiver.unknownPackets == 1)
    var alone = ReceiverRig(audio: .audio())
    alone.receive(Self.packet(ssrc: 5))
    #expect(alone.frames.map(\.frame.mid) == ["1"])
  }

  @Test func aNameThatNobodyHasIsNotGuessedAt() {
    var rig = ReceiverRig()
    rig.receive(Self.packet(ssrc: 5, mid: "9"))
    #expect(rig.frames.isEmpty && rig.receiver.unknownPackets == 1)
  }

  @Test func aSourceMayMoveToAnotherSection() {
    var rig = Self.twoVideos()
    rig.receive(Self.packet(ssrc: 5, mid: "1"))
    rig.receive(Self.packet(sequenceNumber: 1, ssrc: 5, mid: "2"))
    #expect(rig.frames.map(\.frame.mid) == ["1", "2"])
    #expect(rig.receiver.statistics(now: rig.now).map(\.ssrc) == [nil, 5])
  }

  @Test func whatIsNotNegotiatedIsCountedAndDropped() {
    var rig = ReceiverRig()
    rig.receive(Self.packet(payloadType: 50, ssrc: 5))
    rig.receive([0x80, 1, 2])
    rig.receive([])
    #expect(rig.receiver.unknownPackets == 1 && rig.receiver.malformedPackets == 2)
    #expect(rig.receiver.nextDeadline == nil)
  }

  @Test func aSenderThatBeginsAnewIsFollowed() {
    var rig = ReceiverRig()
    rig.receive(Self.packet(sequenceNumber: 9000, ssrc: 5))
    rig.receive(Self.packet(sequenceNumber: 40_000, ssrc: 6, frame: 1))
    // The last packets of the old source come late and do not bring it back.
    rig.receive(Self.packet(sequenceNumber: 9001, ssrc: 5, frame: 2))
    rig.receive(Self.packet(sequenceNumber: 40_001, ssrc: 6, frame: 3, isKeyFrame: false))
    #expect(rig.frames.map(\.frame.rtpTimestamp) == [0, 3000, 9000])
    #expect(rig.video.ssrc == 6 && rig.video.packetsReceived == 3 && rig.video.packetsLost == 0)
    #expect(rig.keyFrameRequests.isEmpty)
  }

  @Test func aNewSourceThatBeginsWithoutAKeyFrameIsAskedForOne() {
    var rig = ReceiverRig()
    rig.receive(Self.packet(ssrc: 5))
    rig.receive(Self.packet(ssrc: 6, frame: 1, isKeyFrame: false))
    #expect(rig.frames.count == 1 && rig.keyFrameRequests.count == 1)
  }

  @Test func aNewSourceWhoseKeyFrameIsUnderWayIsNotAskedForOne() {
    var rig = ReceiverRig()
    // The old source is asked for a key frame, in vain.
    rig.receive(Self.packet(ssrc: 5, isKeyFrame: false))
    rig.run(for: .milliseconds(300))
    let asked = rig.keyFrameRequests.count
    rig.ssrc = 6
    let key = TestFrame(number: 1, isKeyFrame: true, packets: 10)
    for packet in rig.packets(of: key) {
      rig.receive(packet)
      rig.run(for: .milliseconds(50))
    }
    #expect(rig.frameNumbers(among: [key]) == [1] && rig.keyFrameRequests.count == asked)
  }

  @Test func aSourceThatJumpsIsTakenUpAgain() {
    var rig = ReceiverRig()
    rig.receive(Self.packet(sequenceNumber: 100, ssrc: 5))
    let first = Self.packet(sequenceNumber: 30_000, ssrc: 5, frame: 1)
    rig.receive(first)
    rig.receive(Self.packet(sequenceNumber: 30_001, ssrc: 5, frame: 2, isKeyFrame: false))
    // The first one was not believed, and is missing now.
    #expect(rig.nacks.map(\.numbers) == [[30_000]])
    rig.receive(first)
    #expect(rig.frames.map(\.frame.rtpTimestamp) == [0, 3000, 6000])
  }

  @Test func goodbyeEndsAStream() {
    var rig = ReceiverRig(audio: .audio())
    rig.receive(Self.packet(ssrc: 5))
    rig.receiver.handle(rtcp: [.goodbye(RTCPGoodbye(sources: [1, 5, 5]))], now: rig.now)
    rig.drain()
    #expect(rig.goodbyes == [.video])
    rig.receive(Self.packet(sequenceNumber: 1, ssrc: 5))
    #expect(rig.frames.count == 1 && rig.video.packetsDiscarded == 1 && rig.video.ssrc == nil)
    // Nobody is left to be asked for anything.
    rig.run(for: .seconds(3))
    #expect(rig.nacks.isEmpty && rig.keyFrameRequests.isEmpty)
    rig.receive(Self.packet(sequenceNumber: 2, ssrc: 5))
    #expect(rig.frames.count == 2)
  }

  @Test func redundantSoundFillsGaps() {
    var rig = ReceiverRig(video: nil, audio: .audio())
    func send(_ number: UInt16, redundant: Int) {
      let opus = { (index: UInt16) -> [UInt8] in [0xf8, UInt8(truncatingIfNeeded: index), 1] }
      let blocks = (0..<UInt16(redundant)).reversed().map { age in
        RedundantAudio.Block(
          payloadType: 111, timestampOffset: (age + 1) * 960, data: opus(number &- age &- 1)[...])
      }
      let payload = RedundantAudio(redundant: blocks, primaryPayloadType: 111, primary: opus(number)[...]).write()
      let header = RTPHeader(
        payloadType: 63, sequenceNumber: number, timestamp: UInt32(number) * 960, ssrc: audioSSRC)
      rig.receive(RTPPacket(header: header, payload: payload[...]))
    }
    for number: UInt16 in 0..<100 {
      // Two of ten packets get lost, one behind the other.
      if number % 10 > 1 || number < 10 { send(number, redundant: 2) }
      rig.run(for: .milliseconds(20))
    }
    let played = rig.sound.compactMap { element -> UInt8? in
      if case .packet(let bytes) = element.element.content { bytes[1] } else { nil }
    }
    // The first gaps teach the buffer how long copies take; from then on there are none.
    #expect(played.filter { $0 >= 30 } == Array(30..<(played.last ?? 0) + 1) && played.count > 90)
    #expect(rig.audio.audio?.concealmentEvents ?? 0 <= 3)
  }
}
