import RTP
import Testing
import Wire

@testable import RTPReceiving

/// What is missing is asked for: at once, again in the rhythm of the path, and not without end.
@Suite struct RequestTests {
  private static func frames(_ count: Int, keyFrames: Set<Int> = [0]) -> [TestFrame] {
    (0..<count).map {
      TestFrame(
        number: $0, isKeyFrame: keyFrames.contains($0), descriptor: VP8PayloadDescriptor(pictureID: .long(UInt16($0))))
    }
  }

  @Test func aMissingPacketIsAskedForAtOnceAndComesBack() {
    var rig = ReceiverRig(roundTrip: 20)
    let frames = Self.frames(2)
    rig.send(frames[0])
    let packets = rig.packets(of: frames[1])
    rig.receive(packets[0])
    rig.now += .milliseconds(1)
    rig.receive(packets[2])
    #expect(rig.nacks.map(\.at) == [.milliseconds(1)] && rig.nacks[0].numbers == [packets[1].header.sequenceNumber])
    rig.run(for: .milliseconds(20))
    rig.retransmit(packets[1])
    #expect(rig.frameNumbers(among: frames) == [0, 1])
    rig.run(for: .milliseconds(900))
    #expect(rig.nacks.count == 1 && rig.video.nackCount == 1 && rig.keyFrameRequests.isEmpty)
    #expect(rig.video.retransmittedPacketsReceived == 1 && rig.video.packetsLost == 1)
  }

  @Test(arguments: [1, 20, 100]) func requestsAreRepeatedInTheRhythmOfThePath(roundTrip: Int) {
    var rig = ReceiverRig(roundTrip: roundTrip)
    let frames = Self.frames(3)
    rig.send(frames[0])
    rig.send(frames[1], except: [1])
    rig.run(for: .seconds(3))
    let interval = max(15.0, Double(roundTrip) * 1.25)
    #expect(zip(rig.nacks, rig.nacks.dropFirst()).allSatisfy { abs(($1.at - $0.at).inMilliseconds - interval) < 0.001 })
    // Ten times, or as often as there is time in a second.
    #expect(rig.nacks.count == min(10, Int(1000 / interval) + 1))
  }

  @Test func manyMissingPacketsShareOneMessage() {
    var rig = ReceiverRig()
    rig.send(Self.frames(1)[0])
    let first = rig.sequenceNumber
    rig.sequenceNumber &+= 40
    rig.send(TestFrame(number: 1))
    #expect(rig.nacks.count == 1 && rig.nacks[0].numbers == (0..<40).map { first + $0 })
  }

  @Test func requestsSpreadWideAreStillOneDatagramEach() {
    var rig = ReceiverRig()
    rig.send(Self.frames(1)[0])
    // Every other packet of 1200 gets lost, all noticed while nothing can be sent.
    for number in 0..<600 {
      rig.sequenceNumber &+= 1
      rig.send(TestFrame(number: number + 1, packets: 1))
    }
    rig.run(for: .milliseconds(400))
    #expect(rig.nacks.allSatisfy { $0.numbers.count <= 250 })
  }

  @Test func whatComesOutOfOrderAgainAndAgainIsWaitedFor() {
    var rig = ReceiverRig(roundTrip: 50)
    let frames = Self.frames(60)
    for frame in frames {
      var packets = rig.packets(of: frame)
      packets.swapAt(1, 2)
      for packet in packets {
        rig.receive(packet)
        rig.run(for: .milliseconds(2))
      }
      rig.run(for: .milliseconds(27))
    }
    #expect(rig.frameNumbers(among: frames) == frames.map(\.number))
    // The first ones are asked for, until it is clear that they come by themselves.
    #expect((1...10).contains(rig.nacks.count))
  }

  @Test func aGapThatIsTooWideEndsInAKeyFrame() {
    var rig = ReceiverRig()
    rig.send(Self.frames(1)[0])
    rig.sequenceNumber &+= 1500
    rig.now += .milliseconds(10)
    rig.send(TestFrame(number: 1))
    #expect(rig.nacks.isEmpty && rig.keyFrameRequests == [.milliseconds(10)])
    let key = TestFrame(number: 2, isKeyFrame: true)
    rig.send(key)
    #expect(rig.frames.last?.frame.payload == key.payload)
  }

  @Test func afterAnOutageAKeyFrameIsAskedForAtOnce() {
    var rig = ReceiverRig()
    rig.send(Self.frames(1)[0])
    rig.run(for: .seconds(2))
    rig.sequenceNumber &+= 200
    rig.send(TestFrame(number: 1))
    #expect(rig.nacks.isEmpty && rig.keyFrameRequests == [.seconds(2)])
  }

  @Test func aLossThatIsNotMadeGoodEndsInAKeyFrame() {
    var rig = ReceiverRig(roundTrip: 20)
    let frames = Self.frames(60, keyFrames: [0, 20])
    for frame in frames.prefix(20) {
      rig.send(frame, except: frame.number == 5 ? [0] : [])
      rig.run(for: .milliseconds(33))
    }
    // Frame 5 was noticed missing at 165 ms; 200 ms are time for several retransmissions.
    #expect(rig.keyFrameRequests.first == .milliseconds(365))
    #expect(rig.frameNumbers(among: frames) == [0, 1, 2, 3, 4])
    for frame in frames[20...] { rig.send(frame) }
    #expect(rig.frameNumbers(among: frames) == [0, 1, 2, 3, 4] + Array(20..<60))
  }

  @Test func aLateRetransmissionIsAsGoodAsAKeyFrame() {
    var rig = ReceiverRig(roundTrip: 20)
    let frames = Self.frames(30)
    var lost: [RTPPacket] = []
    for frame in frames {
      let packets = rig.packets(of: frame)
      if frame.number == 5 { lost = packets } else { packets.forEach { rig.receive($0) } }
      rig.run(for: .milliseconds(20))
    }
    #expect(!rig.keyFrameRequests.isEmpty && rig.frames.count == 5)
    let asked = rig.keyFrameRequests.count
    lost.forEach { rig.retransmit($0) }
    #expect(rig.frameNumbers(among: frames) == frames.map(\.number))
    rig.run(for: .seconds(2))
    #expect(rig.keyFrameRequests.count == asked)
  }

  @Test func keyFrameRequestsBecomeRareAndNeverStop() {
    var rig = ReceiverRig()
    for number in 0..<3000 {
      rig.send(TestFrame(number: number + 1))
      rig.run(for: .milliseconds(10))
    }
    let times = rig.keyFrameRequests.map { Int($0.nanoseconds / 1_000_000) }
    #expect(times.prefix(6) == [0, 200, 600, 1400, 3000, 5000])
    #expect(times.count == 18)
    #expect(rig.video.pliCount == 18 && rig.video.firCount == 0)
  }

  @Test func aDecoderThatFailsOnEveryKeyFrameCausesNoStorm() {
    var rig = ReceiverRig()
    for number in 0..<1000 {
      let before = rig.keyFrameRequests.count
      rig.send(TestFrame(number: number, isKeyFrame: true))
      rig.receiver.requestKeyFrame(decoderFailed: true, now: rig.now)
      rig.drain()
      #expect(rig.keyFrameRequests.count <= before + 1)
      rig.run(for: .milliseconds(10))
    }
    #expect(rig.keyFrameRequests.count < 12)
  }

  /// After a decoder's failure only a key frame comes out; one that a recording wants interrupts nothing.
  @Test(arguments: [(true, [0, 1, 4, 5]), (false, [0, 1, 2, 3, 4, 5])])
  func aRequestedKeyFrameHoldsFramesBackOnlyAfterAFailure(decoderFailed: Bool, shown: [Int]) {
    var rig = ReceiverRig()
    let frames = Self.frames(6, keyFrames: [0, 4])
    rig.send(frames[0])
    rig.send(frames[1])
    rig.receiver.requestKeyFrame(decoderFailed: decoderFailed, now: rig.now)
    rig.drain()
    #expect(rig.keyFrameRequests.count == 1)
    frames[2...].forEach { rig.send($0) }
    #expect(rig.frameNumbers(among: frames) == shown)
  }

  @Test func aKeyFrameThatIsUnderWayIsNotAskedFor() {
    var rig = ReceiverRig(roundTrip: 20)
    // A second for one key frame: the path is narrow.
    let key = TestFrame(number: 0, isKeyFrame: true, packets: 50)
    for packet in rig.packets(of: key) {
      rig.receive(packet)
      rig.run(for: .milliseconds(20))
    }
    #expect(rig.frames.count == 1 && rig.keyFrameRequests.isEmpty)
  }

  @Test func aKeyFrameThatStopsHalfwayIsAskedForAgain() {
    var rig = ReceiverRig(roundTrip: 20)
    let key = TestFrame(number: 0, isKeyFrame: true, packets: 50)
    for packet in rig.packets(of: key).prefix(20) {
      rig.receive(packet)
      rig.run(for: .milliseconds(5))
    }
    rig.run(for: .milliseconds(250))
    #expect(rig.keyFrameRequests == [.milliseconds(95 + 200)])
  }

  @Test func withoutPictureLossIndicationFullIntraIsRequested() {
    var stream = RTPReceiveStreamConfiguration.video()
    stream.supportsPLI = false
    var rig = ReceiverRig(video: stream)
    rig.send(TestFrame(number: 1))
    rig.run(for: .milliseconds(250))
    let requests = rig.reports.flatMap(\.packets).compactMap { packet in
      if case .fullIntraRequest(let request) = packet { request.entries } else { nil }
    }
    // Each with a number of its own: the same number would be the same request.
    #expect(requests.flatMap { $0 }.map(\.sequenceNumber) == [0, 1])
    #expect(requests.flatMap { $0 }.allSatisfy { $0.ssrc == videoSSRC })
    #expect(rig.video.firCount == 2 && rig.video.pliCount == 0)
  }

  @Test func withoutNackAKeyFrameIsAskedForSoon() {
    var stream = RTPReceiveStreamConfiguration.video(rtx: false)
    stream.supportsNACK = false
    var rig = ReceiverRig(video: stream)
    for frame in Self.frames(4) {
      rig.send(frame, except: frame.number == 1 ? [1] : [])
      rig.run(for: .milliseconds(33))
    }
    #expect(rig.nacks.isEmpty && rig.keyFrameRequests == [.milliseconds(33 + 30)])
  }

  @Test func retransmissionsMayComeOnTheStreamItself() {
    var rig = ReceiverRig(video: .video(rtx: false), roundTrip: 20)
    let frames = Self.frames(2)
    rig.send(frames[0])
    let packets = rig.packets(of: frames[1])
    rig.receive(packets[0])
    rig.receive(packets[2])
    rig.run(for: .milliseconds(20))
    rig.receive(packets[1])
    #expect(rig.frameNumbers(among: frames) == [0, 1])
    #expect(rig.video.retransmittedPacketsReceived == 1 && rig.video.packetsReceived == 6)
  }

  @Test func retransmissionsThatCarryNothingAreHarmless() {
    var rig = ReceiverRig()
    let header = RTPHeader(payloadType: 97, sequenceNumber: 1, timestamp: 0, ssrc: rtxSSRC)
    rig.receive(RTPPacket(header: header, payload: [], paddingByteCount: 255))
    rig.send(Self.frames(1)[0])
    var next = header
    next.sequenceNumber = 2
    rig.receive(RTPPacket(header: next, payload: [1]))
    #expect(rig.frames.count == 1 && rig.video.retransmittedPacketsReceived == 2)
  }
}

extension Instant {
  static func seconds(_ value: Int) -> Instant { .zero + .seconds(value) }
}
