import RTP
import TestSupport
import Testing
import Wire

@Suite struct VP8PayloadDescriptorTests {
  private func parse(_ hex: String) throws -> (VP8PayloadDescriptor, [UInt8]) {
    var payload = Fixture.hex(hex)[...]
    let descriptor = try VP8PayloadDescriptor(parsing: &payload)
    return (descriptor, Array(payload))
  }

  @Test func everyCombinationOfFieldsComesBackAsWritten() throws {
    for fields in 0..<32 {
      let pictureID: VP8PayloadDescriptor.PictureID? =
        fields & 1 == 0 ? nil : fields & 16 == 0 ? .short(127) : .long(0x7fff)
      let layer: VP8PayloadDescriptor.TemporalLayer? = fields & 2 == 0 ? nil : .init(index: 3, isSync: true)
      let descriptor = VP8PayloadDescriptor(
        isNonReference: fields & 8 != 0, startsPartition: fields & 4 != 0, partitionIndex: UInt8(fields & 7),
        pictureID: pictureID, tl0PictureIndex: layer == nil ? nil : 200, temporalLayer: layer,
        keyIndex: fields & 4 == 0 ? nil : 31)
      var writer = ByteWriter()
      descriptor.write(to: &writer)
      writer.write(UInt8(0x55))
      var payload = writer.bytes[...]
      #expect(try VP8PayloadDescriptor(parsing: &payload) == descriptor)
      #expect(Array(payload) == [0x55])
    }
  }

  /// The examples of RFC 7741 section 4.5 and the figure of section 4.2.
  @Test func readsTheLayoutsOfTheRFC() throws {
    #expect(try parse("10 aa") == (VP8PayloadDescriptor(startsPartition: true), [0xaa]))
    #expect(try parse("90 80 11 aa") == (VP8PayloadDescriptor(pictureID: .short(0x11)), [0xaa]))
    #expect(try parse("90 80 91 22 aa") == (VP8PayloadDescriptor(pictureID: .long(0x1122)), [0xaa]))
    let layered = try parse("b0 e0 91 22 07 60 aa").0
    #expect(layered.isNonReference && layered.startsFrame)
    #expect(layered.tl0PictureIndex == 7)
    #expect(layered.temporalLayer == .init(index: 1, isSync: true))
    #expect(layered.keyIndex == nil)
    // Reserved bits are ignored.
    #expect(try parse("58 aa").0 == VP8PayloadDescriptor(startsPartition: true))
  }

  @Test(arguments: ["", "90", "9080", "908080", "9040", "9020", "90e0800102"])
  func refusesWhatIsCutShort(hex: String) {
    #expect(throws: WireError.truncated) { try parse(hex) }
  }
}

@Suite struct VP8PacketizerTests {
  @Test func splitsIntoEqualPartsThatJoinToTheFrame() throws {
    var packetizer = VP8Packetizer(pictureID: 0x7fff, tl0PictureIndex: 255)
    let frame = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let payloads = packetizer.packetize(frame, isKeyFrame: true, maximumPayloadSize: 1100)
    #expect(payloads.map(\.count) == [1006, 1006, 1006, 1006, 1006])
    var joined: [UInt8] = []
    for (index, payload) in payloads.enumerated() {
      var rest = payload[...]
      let descriptor = try VP8PayloadDescriptor(parsing: &rest)
      #expect(descriptor.startsFrame == (index == 0))
      #expect(descriptor.pictureID == .long(0x7fff))
      #expect(descriptor.tl0PictureIndex == 255)
      joined += rest
    }
    #expect(joined == frame)
  }

  @Test(arguments: [1, 15, 16, 999, 1000, 1001, 4321])
  func neverExceedsTheMaximum(count: Int) {
    var packetizer = VP8Packetizer()
    let payloads = packetizer.packetize(Array(repeating: 1, count: count), isKeyFrame: false, maximumPayloadSize: 1000)
    #expect(payloads.allSatisfy { $0.count <= 1000 })
    #expect(payloads.count == (count + 993) / 994)
    let sizes = payloads.map(\.count)
    #expect(Set(sizes.dropLast()).count <= 1 && sizes.last! <= sizes[0])
  }

  @Test func countersWrapAndFollowTheLayers() throws {
    var packetizer = VP8Packetizer(pictureID: 0x7ffe, tl0PictureIndex: 254)
    var seen: [[Int]] = []
    for (layer, isKey) in [(0, true), (1, false), (0, false), (1, false), (2, true)] {
      let payload = packetizer.packetize(
        [1, 2, 3], isKeyFrame: isKey, temporalLayer: layer, isLayerSync: layer == 1, maximumPayloadSize: 1000)[0]
      var rest = payload[...]
      let descriptor = try VP8PayloadDescriptor(parsing: &rest)
      guard case .long(let picture)? = descriptor.pictureID else { throw WireError.truncated }
      let temporal = try #require(descriptor.temporalLayer)
      #expect(temporal.isSync == (temporal.index == 1))
      seen.append([Int(picture), Int(descriptor.tl0PictureIndex ?? 0), Int(temporal.index)])
    }
    #expect(seen == [[0x7ffe, 254, 0], [0x7fff, 254, 1], [0, 255, 0], [1, 255, 1], [2, 0, 0]])
  }

  @Test func emptyFramesMakeNoPackets() {
    var packetizer = VP8Packetizer()
    #expect(packetizer.packetize([], isKeyFrame: true, maximumPayloadSize: 1000).isEmpty)
  }

  @Test func countersAreLoweredInPlaceAndWrap() throws {
    let offset = VP8CounterOffset(pictureID: 5, tl0PictureIndex: 9)
    var packetizer = VP8Packetizer(pictureID: 2, tl0PictureIndex: 3)
    var packet: [UInt8] = [0, 0] + packetizer.packetize([9], isKeyFrame: true, maximumPayloadSize: 100)[0]
    VP8Packetizer.lowerCounters(by: offset, in: &packet, payloadOffset: 2)
    #expect(try #require(VP8Packetizer.counters(in: packet, payloadOffset: 2)) == (0x7ffd, 250))
    var rest = packet[2...]
    let descriptor = try VP8PayloadDescriptor(parsing: &rest)
    #expect(descriptor.pictureID == .long(0x7ffd) && descriptor.tl0PictureIndex == 250)
    #expect(Array(rest) == [9])
    var other: [UInt8] = [0x10, 0x80, 0x80, 0x80]
    VP8Packetizer.lowerCounters(by: offset, in: &other, payloadOffset: 0)
    #expect(other == [0x10, 0x80, 0x80, 0x80] && VP8Packetizer.counters(in: other) == nil)
  }
}
