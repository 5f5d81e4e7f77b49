import RTP
import Testing
import Wire

@testable import RTPReceiving

/// Frames are handed out whole, in order, and as soon as they can be decoded.
@Suite struct FrameTests {
  private static func longID(_ value: UInt16) -> VP8PayloadDescriptor {
    VP8PayloadDescriptor(pictureID: .long(value & 0x7fff))
  }

  /// Two layers in turns, as our encoder has them: the upper one needs the base alone.
  private static func layered(_ number: Int, sync: Bool = true) -> TestFrame {
    let isUpper = number % 2 == 1
    return TestFrame(
      number: number, isKeyFrame: number == 0,
      descriptor: VP8PayloadDescriptor(
        pictureID: .long(UInt16(number)), tl0PictureIndex: UInt8(truncatingIfNeeded: 250 + number / 2),
        temporalLayer: .init(index: isUpper ? 1 : 0, isSync: isUpper && sync)))
  }

  @Test func aFrameComesOutWithItsLastPacket() throws {
    var rig = ReceiverRig()
    let frame = TestFrame(number: 0, isKeyFrame: true, packets: 4, descriptor: Self.longID(700))
    let packets = rig.packets(of: frame)
    for packet in packets.dropLast() {
      rig.receive(packet)
      rig.now += .milliseconds(2)
    }
    #expect(rig.frames.isEmpty)
    rig.receive(packets[3])
    let received = try #require(rig.frames.first?.frame)
    #expect(received.payload == frame.payload)
    #expect(received.isKeyFrame && received.pictureID == 700 && received.temporalLayer == 0 && received.mid == "1")
    #expect(received.firstArrival == .zero && received.lastArrival == .milliseconds(6))
    #expect(received.captureTime == nil)
    #expect(rig.video.framesReceived == 1 && rig.video.keyFramesReceived == 1 && rig.video.framesDropped == 0)
    #expect(rig.keyFrameRequests.isEmpty && rig.nacks.isEmpty)
  }

  @Test func packetsMayComeInAnyOrder() {
    var rig = ReceiverRig()
    let frames = (0..<4).map {
      TestFrame(number: $0, isKeyFrame: $0 == 0, packets: 5, descriptor: Self.longID(UInt16($0)))
    }
    rig.send(frames[0])
    let later = frames.dropFirst().flatMap { rig.packets(of: $0) }
    for packet in later.reversed() { rig.receive(packet) }
    #expect(rig.frameNumbers(among: frames) == [0, 1, 2, 3])
  }

  @Test func duplicatesChangeNothing() {
    var rig = ReceiverRig()
    let frames = (0..<3).map { TestFrame(number: $0, isKeyFrame: $0 == 0) }
    for frame in frames {
      for packet in rig.packets(of: frame) {
        rig.receive(packet)
        rig.receive(packet)
        rig.retransmit(packet)
      }
    }
    #expect(rig.frameNumbers(among: frames) == [0, 1, 2])
    #expect(rig.video.packetsReceived == 18 && rig.video.duplicatePackets == 18 && rig.video.packetsLost == 0)
  }

  @Test func withoutPictureIDsSequenceNumbersTellWhatIsMissing() {
    var rig = ReceiverRig(video: .video(rtx: false))
    let frames = (0..<5).map { TestFrame(number: $0, isKeyFrame: $0 == 0) }
    rig.send(frames[0])
    rig.send(frames[1])
    let third = rig.packets(of: frames[2])
    rig.send(frames[3])
    rig.send(frames[4])
    #expect(rig.frameNumbers(among: frames) == [0, 1])
    third.forEach { rig.receive($0) }
    #expect(rig.frameNumbers(among: frames) == [0, 1, 2, 3, 4])
  }

  @Test func paddingBetweenFramesIsNoLoss() {
    var rig = ReceiverRig()
    let frames = (0..<3).map { TestFrame(number: $0, isKeyFrame: $0 == 0) }
    for frame in frames {
      rig.send(frame)
      for _ in 0..<2 {
        let header = RTPHeader(
          payloadType: 96, sequenceNumber: rig.sequenceNumber, timestamp: UInt32(frame.number) * 3000, ssrc: videoSSRC)
        rig.sequenceNumber &+= 1
        rig.receive(RTPPacket(header: header, payload: [], paddingByteCount: 200))
      }
    }
    #expect(rig.frameNumbers(among: frames) == [0, 1, 2])
    #expect(rig.nacks.isEmpty)
  }

  @Test func lostPaddingDoesNotHoldAFrameThatItsPictureIDPutsNext() {
    var rig = ReceiverRig()
    let frames = (0..<2).map {
      TestFrame(number: $0, isKeyFrame: $0 == 0, descriptor: Self.longID(UInt16(0x7fff + $0)))
    }
    rig.send(frames[0])
    rig.sequenceNumber &+= 3
    rig.send(frames[1])
    #expect(rig.frameNumbers(among: frames) == [0, 1])
  }

  @Test(arguments: [true, false]) func pictureIDsWrap(isLong: Bool) {
    var rig = ReceiverRig()
    let frames = (0..<300).map { number in
      let id: VP8PayloadDescriptor.PictureID =
        isLong ? .long(UInt16(32_700 + number) & 0x7fff) : .short(UInt8((100 + number) & 0x7f))
      return TestFrame(
        number: number, isKeyFrame: number == 0, packets: 1, descriptor: VP8PayloadDescriptor(pictureID: id))
    }
    for frame in frames {
      rig.send(frame)
      // Padding that gets lost: then the PictureID alone says that nothing is missing.
      rig.sequenceNumber &+= 1
      rig.now += .milliseconds(33)
    }
    #expect(rig.frameNumbers(among: frames) == Array(0..<300))
  }

  @Test func aLostUpperLayerDoesNotFreezeTheBase() {
    var rig = ReceiverRig(roundTrip: 2000)
    let frames = (0..<20).map { Self.layered($0) }
    for frame in frames {
      rig.send(frame, except: frame.number % 4 == 1 ? [1] : [])
      rig.run(for: .milliseconds(33))
    }
    #expect(rig.frameNumbers(among: frames) == frames.map(\.number).filter { $0 % 4 != 1 })
    #expect(rig.keyFrameRequests.isEmpty)
    #expect(rig.video.framesDropped == 5)
  }

  @Test func anUpperLayerWithALostFrameWaitsForItsNextSync() {
    var rig = ReceiverRig(roundTrip: 2000)
    // The upper layer builds on itself, with a sync now and then.
    let frames = (0..<20).map { Self.layered($0, sync: $0 % 8 == 1) }
    for frame in frames {
      rig.send(frame, except: frame.number == 3 ? [0] : [])
      rig.run(for: .milliseconds(33))
    }
    #expect(rig.frameNumbers(among: frames) == frames.map(\.number).filter { ![3, 5, 7].contains($0) })
    #expect(rig.keyFrameRequests.isEmpty)
  }

  @Test func aLostBaseFrameHoldsAllUntilItComes() {
    var rig = ReceiverRig()
    let frames = (0..<6).map { Self.layered($0) }
    var lost: [RTPPacket] = []
    for frame in frames {
      let packets = rig.packets(of: frame)
      for (index, packet) in packets.enumerated() {
        if frame.number == 2, index == 1 { lost.append(packet) } else { rig.receive(packet) }
      }
      rig.now += .milliseconds(5)
    }
    #expect(rig.frameNumbers(among: frames) == [0, 1])
    rig.retransmit(lost[0])
    #expect(rig.frameNumbers(among: frames) == [0, 1, 2, 3, 4, 5])
  }

  @Test func aKeyFrameEndsAllWaiting() {
    var rig = ReceiverRig()
    var frames = (0..<8).map { TestFrame(number: $0, isKeyFrame: $0 == 0, descriptor: Self.longID(UInt16($0))) }
    frames[5].isKeyFrame = true
    for frame in frames { rig.send(frame, except: frame.number == 2 ? [0, 1] : []) }
    #expect(rig.frameNumbers(among: frames) == [0, 1, 5, 6, 7])
    #expect(rig.video.framesDropped == 2)
    let before = rig.nacks.count
    rig.run(for: .milliseconds(500))
    // What lies before the key frame is not asked for any more.
    #expect(rig.nacks.count == before && rig.keyFrameRequests.isEmpty)
  }

  @Test func partitionsMayBeginInPacketsOfTheirOwn() {
    var rig = ReceiverRig()
    for (index, head) in [[UInt8]([0x10, 0x00, 1]), [0x11, 2, 3], [0x12, 4]].enumerated() {
      let header = RTPHeader(
        marker: index == 2, payloadType: 96, sequenceNumber: UInt16(index), timestamp: 0, ssrc: videoSSRC)
      rig.receive(RTPPacket(header: header, payload: head[...]))
    }
    #expect(rig.frames.map(\.frame.payload) == [[0x00, 1, 2, 3, 4]])
  }

  @Test func timestampsWrap() {
    var rig = ReceiverRig()
    rig.timestampOffset = 0xffff_f000
    let frames = (0..<5).map { TestFrame(number: $0, isKeyFrame: $0 == 0) }
    for frame in frames {
      rig.send(frame)
      rig.now += .nanoseconds(33_333_333)
    }
    #expect(rig.frameNumbers(among: frames) == [0, 1, 2, 3, 4])
    #expect(rig.video.jitter < 0.001)
  }

  @Test func buffersStayBounded() {
    var rig = ReceiverRig {
      $0.maximumBufferedPackets = 256
      $0.maximumBufferedBytes = 50_000
      $0.maximumWaitingFrames = 20
    }
    // Nothing can be decoded: the key frame never comes.
    for number in 1..<3000 {
      rig.send(TestFrame(number: number, packets: number % 9 + 1), except: number % 7 == 0 ? [0] : [])
      rig.now += .milliseconds(1)
      let video = rig.receiver.streams[0].video!
      #expect(video.bufferedBytes <= 50_000 && video.waitingFrameCount <= 20)
      #expect(rig.receiver.streams[0].nacks.count <= 1000)
    }
    #expect(rig.frames.isEmpty)
    let key = TestFrame(number: 3000, isKeyFrame: true)
    rig.send(key)
    #expect(rig.frameNumbers(among: [key]) == [3000])
  }
}
