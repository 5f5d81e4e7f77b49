import RTP
import TestSupport
import Testing
import Wire

@testable import RTPSending

/// One viewer's stream that changes from one encoder to another.
@Suite struct SourceChangeTests {
  private var rig = Rig()
  /// Of two encoders, whose counters have nothing to do with each other.
  private var packetizers = [
    VP8Packetizer(pictureID: 0x7ff8, tl0PictureIndex: 250), VP8Packetizer(pictureID: 1234, tl0PictureIndex: 17),
  ]
  private var index = 0

  /// Both encoders make a picture, of two packets; the viewer is sent that of `source`.
  private mutating func send(_ source: Int, isKeyFrame: Bool = false) {
    let now = Instant.milliseconds(index * 33)
    let layer = isKeyFrame ? 0 : index % 2
    for encoder in packetizers.indices {
      let payloads = packetizers[encoder].packetize(
        [UInt8](repeating: UInt8(encoder), count: 1500), isKeyFrame: isKeyFrame && encoder == source,
        temporalLayer: layer, isLayerSync: layer == 1, maximumPayloadSize: 1100)
      guard encoder == source else { continue }
      rig.sendVideo(payloads: payloads, at: now, layer: layer, isKeyFrame: isKeyFrame, source: source)
    }
    rig.drain(at: now)
    if isKeyFrame { rig.reportArrival(at: now) }
    index += 1
  }

  /// Its payloads have no counters to go on with, and no layers that could be left out.
  @Test mutating func payloadsOfH264AreSentAsTheyAre() {
    var packetizer = H264Packetizer()
    var sent: [[UInt8]] = []
    rig.sender.setMaximumTemporalLayer(0, ssrc: videoSSRC)
    for number in 0..<8 {
      let isKeyFrame = number % 4 == 0
      let slice = [isKeyFrame ? 0x65 : 0x41] + [UInt8](repeating: 0xff, count: 1500)
      let picture = [0, 0, 1] + slice + (number % 2 == 0 ? [] : [0, 0, 1, 0x06, 0xff, 0xff, 0xff, 0xff, 0xff])
      let payloads = packetizer.packetize(picture, maximumPayloadSize: 1100)
      // Of another encoder without a key frame: dropped.
      let source = number == 6 ? 3 : number / 4
      rig.sendVideo(
        payloads: payloads, at: .milliseconds(number * 33), isKeyFrame: isKeyFrame, source: source)
      rig.drain(at: .milliseconds(number * 33))
      if isKeyFrame { rig.reportArrival(at: .milliseconds(number * 33)) }
      if number != 6 { sent += payloads }
    }
    #expect(rig.video.map { Array($0.payload) } == sent)
  }

  private struct Picture: Equatable {
    var id: UInt16
    var base: UInt8
    var layer: UInt8
    var encoder: UInt8
  }

  private var pictures: [Picture] {
    get throws {
      try rig.video.filter(\.header.marker).map { packet in
        var rest = packet.payload
        let descriptor = try VP8PayloadDescriptor(parsing: &rest)
        return Picture(
          id: try #require(VP8Packetizer.counters(in: Array(packet.payload))).pictureID,
          base: try #require(descriptor.tl0PictureIndex),
          layer: try #require(descriptor.temporalLayer).index, encoder: try #require(rest.first))
      }
    }
  }

  /// Each PictureID follows the one before, and TL0PICIDX counts the pictures of the base layer.
  private func expectContinuity() throws {
    let pictures = try pictures
    for (before, after) in zip(pictures, pictures.dropFirst()) {
      #expect(after.id == (before.id &+ 1) & 0x7fff)
      #expect(after.base == before.base &+ (after.layer == 0 ? 1 : 0))
    }
    let numbers = rig.video.map(\.header.sequenceNumber)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 })
  }

  @Test mutating func theReceiverSeesOneStreamWhileItGoesDownAndUpThroughEveryWrap() throws {
    send(0, isKeyFrame: true)
    for _ in 0..<25 { send(0) }
    // Down and up again and again, past 2^15 and 2^8.
    for round in 1...30 {
      send(round % 2, isKeyFrame: true)
      for _ in 0..<20 { send(round % 2) }
    }
    #expect(try pictures.count == 26 + 30 * 21)
    #expect(Set(try pictures.map(\.encoder)) == [0, 1])
    try expectContinuity()
    let timestamps = rig.video.filter(\.header.marker).map(\.header.timestamp)
    #expect(zip(timestamps, timestamps.dropFirst()).allSatisfy { $1 &- $0 == 2970 })
  }

  @Test mutating func aPictureOfAnotherEncoderWaitsForItsKeyFrame() throws {
    send(0, isKeyFrame: true)
    send(0)
    send(1)
    send(1)
    #expect(try pictures.count == 2)
    send(0)
    send(1, isKeyFrame: true)
    send(1)
    #expect(try pictures.map(\.encoder) == [0, 0, 0, 1, 1])
  }

  @Test mutating func layersLeftOutBeforeAndAfterAChangeLeaveNoGap() throws {
    send(0, isKeyFrame: true)
    for _ in 0..<5 { send(0) }
    rig.sender.setMaximumTemporalLayer(0, ssrc: videoSSRC)
    for _ in 0..<7 { send(0) }
    send(1, isKeyFrame: true)
    for _ in 0..<8 { send(1) }
    rig.sender.setMaximumTemporalLayer(1, ssrc: videoSSRC)
    for _ in 0..<8 { send(1) }
    send(0, isKeyFrame: true)
    for _ in 0..<8 { send(0) }
    try expectContinuity()
    #expect(rig.sender.statistics()[1].framesAboveLayer == 7)
    #expect(try pictures.count == 39 - 7)
  }

  @Test mutating func whatIsSentAgainHasTheCountersThatItHadTheFirstTime() throws {
    send(0, isKeyFrame: true)
    for _ in 0..<3 { send(0) }
    send(1, isKeyFrame: true)
    for _ in 0..<3 { send(1) }
    // After the next change the offset is another one.
    send(0, isKeyFrame: true)
    let sent = rig.video
    rig.nack(sent.map(\.header.sequenceNumber), at: .milliseconds(300))
    rig.run(until: .milliseconds(400))
    // RFC 4588 section 4: after the original sequence number.
    #expect(rig.retransmissions.map { $0.payload.dropFirst(2) } == sent.map { $0.payload[...] })
  }

  @Test mutating func withoutRTXThePacketOfTheOtherEncoderGoesOutBitForBit() {
    rig = Rig(rtx: false)
    send(0, isKeyFrame: true)
    send(1, isKeyFrame: true)
    let sent = rig.packets
    rig.nack(sent.map(\.packet.header.sequenceNumber), at: .milliseconds(100))
    rig.run(until: .milliseconds(200))
    #expect(rig.packets.count == sent.count * 2)
    #expect(rig.packets.dropFirst(sent.count).map(\.bytes) == sent.map(\.bytes))
  }
}
