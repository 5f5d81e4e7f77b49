import RTP
import TestSupport
import Testing
import Wire

@Suite struct RTPPacketTests {
  @Test func readsVP8PacketOfFFmpeg() throws {
    let bytes = Fixture.bytes("rtp-vp8-key-frame-ffmpeg.bin")
    let packet = try RTPPacket(parsing: bytes)
    #expect(packet.header.payloadType == 96)
    #expect(!packet.header.marker)
    #expect(packet.header.sequenceNumber == 0x0b6c)
    #expect(packet.header.timestamp == 0x7989_c7cd)
    #expect(packet.header.ssrc == 0x0cc9_fdb8)
    #expect(packet.header.extensionBlock == nil)
    var data = packet.payload
    let descriptor = try VP8PayloadDescriptor(parsing: &data)
    #expect(descriptor == VP8PayloadDescriptor(startsPartition: true, pictureID: .long(0)))
    // The start code of a key frame and its width, little-endian: RFC 6386 section 9.1.
    #expect(Array(data.dropFirst(3).prefix(5)) == [0x9d, 0x01, 0x2a, 0x40, 0x01])
    #expect(packet.write() == bytes)
  }

  @Test func readsTransportSequenceNumberOfGStreamer() throws {
    let bytes = Fixture.bytes("rtp-vp8-transport-cc-gstreamer.bin")
    let packet = try RTPPacket(parsing: bytes)
    let extensions = packet.extensions(RTPExtensionIDs(transportSequenceNumber: 3))
    #expect(extensions.transportSequenceNumber == 0)
    #expect(packet.extensions(RTPExtensionIDs(transportSequenceNumber: 4)).transportSequenceNumber == nil)
    #expect(packet.write() == bytes)
  }

  @Test func readsOpusPacketOfFFmpeg() throws {
    let packet = try RTPPacket(parsing: Fixture.bytes("rtp-opus-ffmpeg.bin"))
    #expect(packet.header.payloadType == 97)
    #expect(packet.header.marker)
    #expect(try OpusPacketInfo(parsing: packet.payload).samplesAt48kHz == 960)
  }

  @Test func readsContributingSourcesExtensionAndPadding() throws {
    let bytes = Fixture.hex(
      """
      b2 e0 ffff 01020304 0a0b0c0d 00000001 00000002
      bede 0001 10aa 0000
      112233 00 00 03
      """)
    let packet = try RTPPacket(parsing: bytes)
    #expect(packet.header.marker)
    #expect(packet.header.sequenceNumber == 65535)
    #expect(packet.header.contributingSources == [1, 2])
    #expect(Array(packet.payload) == [0x11, 0x22, 0x33])
    #expect(packet.paddingByteCount == 3)
    #expect(packet.header.extensionBlock?.elements.map { Array($0.data) } == [[0xaa]])
    #expect(packet.write() == bytes)
  }

  @Test func refusesWhatIsCutShortOrOfAnotherVersion() {
    let whole = Fixture.hex("91 60 0001 00000000 00000001 00000002 bede 0001 10aa0000")
    for count in 0..<whole.count {
      #expect(throws: WireError.truncated) { try RTPPacket(parsing: Array(whole.prefix(count))) }
    }
    var other = whole
    other[0] = 0x51
    #expect(throws: WireError.malformed("RTP version is 2")) { try RTPPacket(parsing: other) }
  }

  @Test(arguments: [[], [0], [9], [1, 2, 3, 4]] as [[UInt8]])
  func refusesPaddingThatDoesNotFit(payload: [UInt8]) {
    let bytes = Fixture.hex("a0 60 0001 00000000 00000001") + payload
    #expect(throws: WireError.self) {
      // Four bytes of payload whose last says four are all padding, which is allowed.
      let packet = try RTPPacket(parsing: bytes)
      if packet.payload.isEmpty { throw WireError.truncated }
    }
  }

  @Test func tellsRTCPFromRTPByTheSecondByte() {
    #expect(RTPDemultiplexing.isRTCP(Fixture.bytes("rtcp-sr-ffmpeg.bin")))
    #expect(RTPDemultiplexing.isRTCP([0x80, 192]) && RTPDemultiplexing.isRTCP([0x80, 223]))
    #expect(!RTPDemultiplexing.isRTCP([0x80, 191]) && !RTPDemultiplexing.isRTCP([0x80, 224]))
    #expect(!RTPDemultiplexing.isRTCP([0x80]) && !RTPDemultiplexing.isRTCP([]))
    // Payload type 96 with the marker bit.
    #expect(!RTPDemultiplexing.isRTCP(Fixture.bytes("rtp-vp8-key-frame-ffmpeg.bin")))
  }
}

@Suite struct RTPHeaderExtensionTests {
  let ids = RTPExtensionIDs(
    mid: 1, transportSequenceNumber: 2, absoluteSendTime: 3, absoluteCaptureTime: 4, playoutDelay: 5)

  var everything: RTPHeaderExtensions {
    var extensions = RTPHeaderExtensions()
    extensions.mid = "video0"
    extensions.transportSequenceNumber = 65535
    extensions.absoluteSendTime = 0xabcdef
    extensions.absoluteCaptureTime = AbsoluteCaptureTime(ntpTime: 0x0123_4567_89ab_cdef, clockOffset: -5)
    extensions.playoutDelay = PlayoutDelay(minimum: 1, maximum: 4095)
    return extensions
  }

  private func write(_ extensions: RTPHeaderExtensions, _ ids: RTPExtensionIDs) throws -> RTPPacket {
    let header = RTPHeader(payloadType: 96, sequenceNumber: 1, timestamp: 2, ssrc: 3)
    let (bytes, offset) = RTPPacket.write(header: header, extensions: extensions, ids: ids, payload: [7, 8, 9])
    #expect(Array(bytes[offset...]) == [7, 8, 9])
    let packet = try RTPPacket(parsing: bytes)
    #expect(Array(packet.payload) == [7, 8, 9])
    return packet
  }

  @Test func comeBackAsWritten() throws {
    let packet = try write(everything, ids)
    #expect(packet.header.extensionBlock?.profile == 0xbede)
    #expect(packet.extensions(ids) == everything)
  }

  @Test func takeTheTwoByteFormWhereTheOneByteFormCannotCarryThem() throws {
    var high = ids
    high.mid = 15
    let packet = try write(everything, high)
    #expect(packet.header.extensionBlock?.profile == 0x1000)
    #expect(packet.extensions(high) == everything)

    var long = RTPHeaderExtensions()
    long.mid = String(repeating: "m", count: 17)
    let second = try write(long, ids)
    #expect(second.header.extensionBlock?.profile == 0x1000)
    #expect(second.extensions(ids) == long)
  }

  /// Growing means copying the whole packet, once for each viewer.
  @Test func aPacketIsProtectedWhereItStands() {
    let header = RTPHeader(payloadType: 96, sequenceNumber: 1, timestamp: 2, ssrc: 3)
    for size in [1, 80, 1100, 1400] {
      let payload = [UInt8](repeating: 1, count: size)
      var bytes = RTPPacket.write(
        header: header, extensions: everything, ids: ids, originalSequenceNumber: 7, payload: payload
      ).bytes
      let before = bytes.withUnsafeBufferPointer(\.baseAddress)
      bytes.append(contentsOf: repeatElement(0, count: RTPPacket.protectionRoom))
      #expect(bytes.withUnsafeBufferPointer(\.baseAddress) == before)
    }
  }

  @Test func areLeftOutWithoutIdentifiers() throws {
    let packet = try write(everything, RTPExtensionIDs())
    #expect(packet.header.extensionBlock == nil)
  }

  @Test func oneByteElementsAsInRFC8285() {
    // Section 4.2: padding between elements; 15 ends the list.
    let data = Fixture.hex("10aa 0000 21bbbb 3300112233 f0 40cc 0000")
    let block = RTPHeaderExtensionBlock(profile: 0xbede, data: data[...])
    let elements = Array(block.elements)
    #expect(elements.map(\.id) == [1, 2, 3])
    #expect(elements.map { $0.data.count } == [1, 2, 4])
  }

  @Test func twoByteElementsMayBeEmpty() {
    let data = Fixture.hex("0100 00 0201aa ff02bbcc 00")
    let block = RTPHeaderExtensionBlock(profile: 0x100f, data: data[...])
    #expect(block.elements.map(\.id) == [1, 2, 255])
    #expect(block.elements.map { $0.data.count } == [0, 1, 2])
  }

  @Test func brokenElementsEndTheWalkAndNothingElse() throws {
    let bytes = Fixture.hex("90 60 0001 00000000 00000001 bede 0001 10aa 2f00 99")
    let packet = try RTPPacket(parsing: bytes)
    #expect(packet.header.extensionBlock?.elements.map(\.id) == [1])
    #expect(Array(packet.payload) == [0x99])
    // Elements of the wrong length are as good as absent.
    let short = RTPHeaderExtensionBlock(profile: 0xbede, data: Fixture.hex("20aa 30bb 40cc 50dd")[...])
    #expect(RTPHeaderExtensions(parsing: short, ids: ids) == RTPHeaderExtensions())
    let unknown = RTPHeaderExtensionBlock(profile: 0x1234, data: Fixture.hex("10aa0000")[...])
    #expect(Array(unknown.elements).isEmpty)
  }
}
