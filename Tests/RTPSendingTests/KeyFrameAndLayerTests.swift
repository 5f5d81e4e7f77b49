import RTP
import RTPSending
import TestSupport
import Testing
import Wire

@Suite struct KeyFrameRequestTests {
  private let loss = RTCPPacket.pictureLossIndication(
    RTCPPictureLossIndication(senderSSRC: peerSSRC, mediaSSRC: videoSSRC))

  private func request(_ number: UInt8, from sender: UInt32 = peerSSRC) -> RTCPPacket {
    .fullIntraRequest(
      RTCPFullIntraRequest(senderSSRC: sender, entries: [.init(ssrc: videoSSRC, sequenceNumber: number)]))
  }

  private func times(_ rig: Rig) -> [Int] { rig.keyFrameRequests.map { Int($0.nanoseconds / 1_000_000) } }

  @Test func onePeerGetsAKeyFrameASecondHoweverOftenItAsks() {
    var rig = Rig()
    for millisecond in 0..<3500 {
      rig.sender.handle(rtcp: [loss, loss], now: .milliseconds(millisecond))
      rig.drain(at: .milliseconds(millisecond))
    }
    #expect(times(rig) == [0, 1000, 2000, 3000])
    #expect(rig.sender.statistics()[1].pliCount == 7000)
  }

  /// The second loss is another one: it is made good as soon as it may be.
  @Test func aRequestThatComesTooSoonIsNotForgotten() {
    var rig = Rig()
    rig.sender.handle(rtcp: [loss], now: .zero)
    rig.drain(at: .zero)
    rig.sendVideo(at: .milliseconds(30), isKeyFrame: true)
    rig.drain(at: .milliseconds(30))
    rig.sender.handle(rtcp: [loss], now: .milliseconds(400))
    rig.run(until: .milliseconds(5000))
    #expect(times(rig) == [0, 1000])
  }

  @Test func aKeyFrameThatLeavesMeanwhileIsTheAnswer() {
    var rig = Rig()
    rig.sender.handle(rtcp: [loss], now: .zero)
    rig.drain(at: .zero)
    rig.sendVideo(at: .milliseconds(30), isKeyFrame: true)
    rig.drain(at: .milliseconds(30))
    rig.sender.handle(rtcp: [loss], now: .milliseconds(400))
    // Somebody else has asked.
    rig.sendVideo(at: .milliseconds(600), isKeyFrame: true)
    rig.drain(at: .milliseconds(600))
    rig.run(until: .milliseconds(5000))
    #expect(times(rig) == [0])
  }

  /// 50 ms of round trip are assumed as long as none was measured.
  @Test func aRequestThatCrossesAKeyFrameIsAboutWhatWasBefore() {
    var rig = Rig()
    rig.sendVideo(at: .zero, isKeyFrame: true)
    rig.drain(at: .zero)
    rig.sender.handle(rtcp: [loss], now: .milliseconds(40))
    rig.run(until: .milliseconds(3000))
    #expect(times(rig) == [])
    rig.sender.handle(rtcp: [loss], now: .milliseconds(3100))
    rig.drain(at: .milliseconds(3100))
    #expect(times(rig) == [3100])
  }

  @Test func aRepeatedFullIntraRequestIsTheSameRequest() {
    var rig = Rig()
    for (at, number) in [(0, 5), (2000, 5), (4000, 6), (6000, 6), (8000, 5)] {
      rig.sender.handle(rtcp: [request(UInt8(number))], now: .milliseconds(at))
      rig.drain(at: .milliseconds(at))
    }
    rig.sender.handle(rtcp: [request(5, from: 4)], now: .milliseconds(10_000))
    rig.drain(at: .milliseconds(10_000))
    #expect(times(rig) == [0, 4000, 8000, 10_000])
    #expect(rig.sender.statistics()[1].firCount == 6)
  }
}

@Suite struct TemporalLayerTests {
  private static let pattern = [0, 2, 1, 2]

  /// One frame of a three-layer pattern.
  private func frame(_ index: Int, packetizer: inout VP8Packetizer, sync: Bool = false, key: Bool = false) -> [[UInt8]]
  {
    packetizer.packetize(
      [UInt8](repeating: 1, count: 1500), isKeyFrame: key, temporalLayer: Self.pattern[index % 4], isLayerSync: sync,
      maximumPayloadSize: 1100)
  }

  private func pictureIDs(_ rig: Rig) throws -> [UInt16] {
    try rig.video.filter(\.header.marker).map { packet in
      var rest = packet.payload
      guard case .long(let number)? = try VP8PayloadDescriptor(parsing: &rest).pictureID else { return 0 }
      return number
    }
  }

  @Test func leavingLayersOutKeepsSequenceNumbersAndPictureIDsContinuous() throws {
    var rig = Rig()
    var packetizer = VP8Packetizer(pictureID: 0x7ff0)
    for index in 0..<40 {
      if index == 8 { rig.sender.setMaximumTemporalLayer(1, ssrc: videoSSRC) }
      if index == 20 { rig.sender.setMaximumTemporalLayer(0, ssrc: videoSSRC) }
      let now = Instant.milliseconds(index * 33)
      rig.sendVideo(
        payloads: frame(index, packetizer: &packetizer, key: index == 0), at: now, layer: Self.pattern[index % 4],
        isKeyFrame: index == 0)
      rig.drain(at: now)
    }
    // All of eight frames, half of twelve, a quarter of twenty.
    #expect(rig.video.count == (8 + 6 + 5) * 2)
    let numbers = rig.video.map(\.header.sequenceNumber)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 })
    let pictures = try pictureIDs(rig)
    #expect(zip(pictures, pictures.dropFirst()).allSatisfy { $1 == ($0 &+ 1) & 0x7fff })
    #expect(rig.sender.statistics()[1].framesAboveLayer == 21)
  }

  @Test func goingUpWaitsForAFrameWhereADecoderCan() {
    var rig = Rig()
    var packetizer = VP8Packetizer()
    rig.sender.setMaximumTemporalLayer(0, ssrc: videoSSRC)
    var sent: [Int] = []
    for index in 0..<16 {
      if index == 4 { rig.sender.setMaximumTemporalLayer(2, ssrc: videoSSRC) }
      let now = Instant.milliseconds(index * 33)
      let payloads = frame(index, packetizer: &packetizer, sync: index == 9, key: index == 14)
      rig.sendVideo(payloads: payloads, at: now, layer: Self.pattern[index % 4], isKeyFrame: index == 14)
      if rig.drain(at: now) > 0 { sent.append(index) }
    }
    #expect(sent == [0, 4, 8, 9, 10, 11, 12, 13, 14, 15])
  }

  @Test func aRetransmittedPacketKeepsTheLoweredPictureID() throws {
    var rig = Rig()
    var packetizer = VP8Packetizer(pictureID: 100)
    rig.sender.setMaximumTemporalLayer(0, ssrc: videoSSRC)
    for index in 0..<5 {
      let now = Instant.milliseconds(index * 33)
      let layer = Self.pattern[index % 4]
      rig.sendVideo(payloads: frame(index, packetizer: &packetizer), at: now, layer: layer)
      rig.drain(at: now)
    }
    rig.nack([rig.video[2].header.sequenceNumber], at: .milliseconds(170))
    #expect(try #require(rig.retransmissions.first).payload.dropFirst(2) == rig.video[2].payload)
    #expect(try pictureIDs(rig) == [100, 101])
  }
}
