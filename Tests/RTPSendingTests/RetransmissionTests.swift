import RTP
import TestSupport
import Testing
import Wire

@testable import RTPSending

@Suite struct RetransmissionTests {
  @Test func nackBringsThePacketOnTheRTXStream() throws {
    var rig = Rig()
    rig.sendVideo(packets: 5, at: .zero)
    rig.drain(at: .zero)
    let lost = rig.video[2]
    rig.nack([lost.header.sequenceNumber], at: .milliseconds(30))
    let again = try #require(rig.retransmissions.first)
    #expect(rig.retransmissions.count == 1)
    #expect(again.header.payloadType == 97)
    #expect(again.header.timestamp == lost.header.timestamp)
    #expect(again.header.marker == lost.header.marker)
    // RFC 4588 section 4: the original sequence number, then the payload.
    var reader = ByteReader(again.payload)
    #expect(try reader.readUInt16() == lost.header.sequenceNumber)
    #expect(reader.readRest() == lost.payload)
    #expect(again.extensions(extensionIDs).mid == "1")
    let last = try #require(rig.video.last?.extensions(extensionIDs).transportSequenceNumber)
    #expect(again.extensions(extensionIDs).transportSequenceNumber == last &+ 1)
    let statistics = rig.sender.statistics()[1]
    #expect(statistics.nackCount == 1)
    #expect(statistics.retransmittedPacketsSent == 1)
    #expect(statistics.retransmittedBytesSent == 1002)
    #expect(statistics.packetsSent == 6)
  }

  @Test func rtxNumbersCountOnTheirOwn() {
    var rig = Rig()
    rig.sendVideo(packets: 5, at: .zero)
    rig.drain(at: .zero)
    let numbers = rig.video.map(\.header.sequenceNumber)
    rig.nack([numbers[4]], at: .milliseconds(10))
    rig.nack([numbers[0]], at: .milliseconds(20))
    let sent = rig.retransmissions.map(\.header.sequenceNumber)
    #expect(sent.count == 2 && sent[1] == sent[0] &+ 1)
  }

  @Test func withoutRTXThePacketGoesOutBitForBit() {
    var rig = Rig(rtx: false)
    rig.sendVideo(packets: 5, at: .zero)
    rig.drain(at: .zero)
    let lost = rig.packets[3]
    rig.nack([lost.packet.header.sequenceNumber], at: .milliseconds(30))
    #expect(rig.packets.count == 6)
    #expect(rig.packets[5].bytes == lost.bytes)
  }

  @Test func packetsTooOldOrNeverSentAreNotSentAgain() {
    var rig = Rig()
    rig.sendVideo(packets: 1, at: .zero)
    rig.drain(at: .zero)
    let number = rig.video[0].header.sequenceNumber
    rig.nack([number &+ 1, number &- 1, number &+ 1024], at: .milliseconds(10))
    rig.nack([number], at: .milliseconds(1501))
    #expect(rig.retransmissions.isEmpty)
    rig.sendVideo(packets: 1, at: .milliseconds(2000))
    rig.drain(at: .milliseconds(2000))
    rig.nack([number &+ 1], at: .milliseconds(3500))
    #expect(rig.retransmissions.count == 1)
  }

  /// libwebrtc's receiver asks for a key frame only after three seconds without a picture.
  @Test(arguments: [true, false]) func whatCannotBeSentAgainIsReplacedByAKeyFrame(isOld: Bool) {
    var rig = Rig()
    rig.sendVideo(packets: 4, at: .zero, isKeyFrame: true)
    rig.sendVideo(packets: 2, at: .milliseconds(33))
    rig.drain(at: .milliseconds(33))
    let number = rig.video[4].header.sequenceNumber
    let times = isOld ? [1600] : Array(stride(from: 100, through: 900, by: 100))
    for at in times.dropLast() { rig.nack([number], at: .milliseconds(at)) }
    #expect(rig.retransmissions.count == times.count - 1)
    #expect(rig.keyFrameRequests.isEmpty)
    rig.nack([number], at: .milliseconds(times.last!))
    #expect(rig.keyFrameRequests.count == 1)
    // It is sent; what was before it is not missed, however often it is asked for.
    let later = Instant.milliseconds(2000)
    rig.sendVideo(packets: 4, at: later, isKeyFrame: true)
    rig.drain(at: later)
    for at in [3100, 3200] { rig.nack([number], at: .milliseconds(at)) }
    #expect(rig.keyFrameRequests.count == 1)
  }

  @Test func theCacheHoldsNoPacketThatNobodyMayHaveAgain() throws {
    var cache = RetransmissionCache(capacity: 1024)
    for number in 0..<3000 {
      let header = RTPHeader(
        payloadType: 96, sequenceNumber: UInt16(truncatingIfNeeded: 65_000 + number), timestamp: 0, ssrc: videoSSRC)
      cache.insert(
        SentPacket(
          header: header, extensions: RTPHeaderExtensions(), payload: [1], counterOffset: VP8CounterOffset()),
        sentAt: .zero + .milliseconds(number * 10), maximumAge: .milliseconds(1500))
      let slots = try #require(Mirror(reflecting: cache).descendant("slots") as? [RetransmissionCache.Slot])
      if number.isMultiple(of: 500) { #expect(slots.count { $0.packet != nil } <= 152) }
    }
  }

  @Test func theCacheForgetsByCount() {
    var configuration = RTPSenderConfiguration()
    configuration.retransmissionCachePackets = 8
    var rig = Rig(configuration: configuration)
    rig.sendVideo(packets: 10, at: .zero)
    rig.drain(at: .zero)
    let numbers = rig.video.map(\.header.sequenceNumber)
    rig.nack(numbers, at: .milliseconds(10))
    rig.run(until: .milliseconds(40))
    #expect(rig.retransmissions.count == 8)
  }

  @Test func theSameRequestWithinARoundTripCountsOnce() {
    var rig = Rig()
    rig.sendVideo(packets: 2, at: .zero)
    rig.drain(at: .zero)
    let number = rig.video[0].header.sequenceNumber
    for at in [10, 11, 20, 59] { rig.nack([number], at: .milliseconds(at)) }
    #expect(rig.retransmissions.count == 1)
    rig.nack([number], at: .milliseconds(61))
    #expect(rig.retransmissions.count == 2)
  }

  @Test func nackOfEverythingAgainAndAgainIsBounded() {
    var rig = Rig()
    var sentBytes = 0
    for round in 0..<1000 {
      let now = Instant.milliseconds(round * 2)
      if round % 16 == 0 { rig.sendVideo(packets: 5, at: now) }
      let items = (0..<340).map { RTCPNack.Item(sequenceNumber: UInt16($0 * 193 % 65536), followingLost: 0xffff) }
      var recent: [RTCPNack.Item] = []
      if let newest = rig.video.last?.header.sequenceNumber {
        recent = (0..<64).map { RTCPNack.Item(sequenceNumber: newest &- $0 &* 17, followingLost: 0xffff) }
      }
      rig.sender.handle(
        rtcp: [.nack(RTCPNack(senderSSRC: 1, mediaSSRC: videoSSRC, items: recent + items))], now: now)
      rig.drain(at: now)
      for packet in rig.packets where packet.packet.header.ssrc == rtxSSRC { sentBytes += packet.bytes.count }
      rig.packets.removeAll { $0.packet.header.ssrc != videoSSRC }
    }
    // Half of the target of 1500 kbit/s over 2 s, and what may go at once.
    #expect(sentBytes < 2 * 1_500_000 / 8 / 2 + 100_000)
    #expect(sentBytes > 50_000)
    // Picture went on all the while.
    #expect(rig.video.count == 315)
  }
}
