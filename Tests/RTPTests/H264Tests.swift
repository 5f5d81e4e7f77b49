import RTP
import TestSupport
import Testing
import VideoFormats
import Wire

@Suite struct H264PacketizerTests {
  private static let sequence: [UInt8] = [0x67, 0x42, 0xc0, 0x1f, 0x8c]
  private static let picture: [UInt8] = [0x68, 0xce, 0x3c, 0x80]

  /// Without zeros, which could look like a start code.
  private func unit(_ header: UInt8, _ count: Int) -> [UInt8] {
    [header] + (1..<count).map { UInt8($0 % 255) + 1 }
  }

  /// RFC 6184 section 5.6: a unit is its own payload.
  @Test func aSmallUnitIsAPayload() {
    var packetizer = H264Packetizer()
    let slice = unit(0x41, 1000)
    #expect(packetizer.packetize(AnnexB.stream(of: [slice]), maximumPayloadSize: 1000) == [slice])
  }

  /// Section 5.7.1: NRI of the most important one, type 24, a length of two bytes before each.
  @Test func smallUnitsShareAPayload() {
    var packetizer = H264Packetizer()
    let payloads = packetizer.packetize(
      AnnexB.stream(of: [Self.sequence, Self.picture, [0x65, 0xb8]]), maximumPayloadSize: 1000)
    #expect(payloads == [Fixture.hex("78 0005 6742c01f8c 0004 68ce3c80 0002 65b8")])
  }

  /// Section 5.8: the unit's header is in the indicator and in the header of each part.
  @Test func aLargeUnitComesInEqualParts() {
    var packetizer = H264Packetizer()
    let slice = unit(0x65, 3002)
    let payloads = packetizer.packetize(
      AnnexB.stream(of: [Self.sequence, Self.picture, slice]), maximumPayloadSize: 1100)
    #expect(payloads.map(\.count) == [14, 1003, 1003, 1001])
    #expect(payloads[0] == Fixture.hex("78 0005 6742c01f8c 0004 68ce3c80"))
    #expect(payloads[1].prefix(2) == [0x7c, 0x85] && payloads[2].prefix(2) == [0x7c, 0x05])
    #expect(payloads[3].prefix(2) == [0x7c, 0x45])
    #expect(payloads.dropFirst().flatMap { $0.dropFirst(2) } == Array(slice.dropFirst()))
  }

  @Test func delimitersAndPaddingAreNotSent() {
    var packetizer = H264Packetizer()
    let stream = AnnexB.stream(of: [[0x09, 0xf0], [0x41, 0x9a], [0x0c, 0xff, 0x80]])
    #expect(packetizer.packetize(stream, maximumPayloadSize: 100) == [[0x41, 0x9a]])
    #expect(packetizer.packetize([], maximumPayloadSize: 100).isEmpty)
    #expect(packetizer.packetize([1, 2, 3], maximumPayloadSize: 100).isEmpty)
  }

  /// Encoders that write them once would leave out who joins later.
  @Test func parameterSetsStandBeforeEachPictureThatBegins() {
    var packetizer = H264Packetizer()
    let key: [UInt8] = [0x65, 0xb8]
    #expect(packetizer.packetize(AnnexB.stream(of: [key]), maximumPayloadSize: 100) == [key], "there are none yet")
    _ = packetizer.packetize(AnnexB.stream(of: [Self.sequence, Self.picture, key]), maximumPayloadSize: 100)
    #expect(packetizer.packetize(AnnexB.stream(of: [[0x41, 0x9a]]), maximumPayloadSize: 100) == [[0x41, 0x9a]])
    let later = packetizer.packetize(AnnexB.stream(of: [key, key]), maximumPayloadSize: 100)
    #expect(later == [Fixture.hex("78 0005 6742c01f8c 0004 68ce3c80 0002 65b8 0002 65b8")], "once for a picture")
    let other: [UInt8] = [0x67, 0x42, 0xc0, 0x1e, 0x8d]
    _ = packetizer.packetize(AnnexB.stream(of: [other, Self.picture, key]), maximumPayloadSize: 100)
    let last = packetizer.packetize(AnnexB.stream(of: [key]), maximumPayloadSize: 100)
    #expect(last == [Fixture.hex("78 0005 6742c01e8d 0004 68ce3c80 0002 65b8")], "the latest")
  }

  @Test(arguments: [16, 17, 100, 1100, 65_535]) func whatIsSentComesBackAsItWas(size: Int) throws {
    var packetizer = H264Packetizer()
    var reception = H264Depacketizer()
    for count in [2, 3, 14, 15, 16, 17, 98, 99, 1098, 1099, 5000] {
      let units = [Self.sequence, Self.picture, unit(0x65, count), unit(0x06, 20)]
      let payloads = packetizer.packetize(AnnexB.stream(of: units), maximumPayloadSize: size)
      #expect(payloads.allSatisfy { $0.count <= size })
      var received: [[UInt8]] = []
      for payload in payloads { received += try reception.add(payload[...]) }
      #expect(received == units)
    }
  }
}

@Suite struct H264DepacketizerTests {
  private func units(_ payloads: [String], maximumUnitSize: Int = 1000) throws -> [[UInt8]] {
    var reception = H264Depacketizer(maximumUnitSize: maximumUnitSize)
    return try payloads.flatMap { try reception.add(Fixture.hex($0)[...]) }
  }

  @Test func readsTheLayoutsOfTheRFC() throws {
    #expect(try units(["419a"]) == [[0x41, 0x9a]])
    #expect(try units(["78 0002 6742 0001 68"]) == [[0x67, 0x42], [0x68]])
    #expect(try units(["7c85aa", "7c05bb", "7c45cc"]) == [[0x65, 0xaa, 0xbb, 0xcc]])
    #expect(try units([""]).isEmpty, "padding")
  }

  @Test(arguments: [
    // Cut short.
    ["7c"], ["7c85"], ["78 00"], ["78 0005 67"],
    // The modes that are not ours, and what is no payload.
    ["79000041"], ["1a"], ["1d"], ["00"], ["1f"], ["c1"],
    // A part alone, of another unit, both first and last; nothing in an aggregate, or an aggregate.
    ["7c05aa"], ["7c85aa", "7c41bb"], ["7cc5aa"], ["78 0000"], ["78 0001 78"], ["7c9caa"],
    // One in between.
    ["7c85aa", "419a", "7c45bb"],
  ])
  func refusesWhatIsNoPayload(payloads: [String]) {
    #expect(throws: WireError.self) { try units(payloads) }
  }

  @Test func aUnitTakesNoMoreMemoryThanIsAllowed() throws {
    let part = "7c05" + String(repeating: "aa", count: 100)
    #expect(try units(["7c85aa"] + Array(repeating: part, count: 9) + ["7c45aa"])[0].count == 903)
    #expect(throws: WireError.self) { try units(["7c85aa"] + Array(repeating: part, count: 10)) }
  }

  @Test func whatBeganBeforeALossIsForgotten() throws {
    var reception = H264Depacketizer()
    #expect(try reception.add(Fixture.hex("7c85aa")[...]).isEmpty)
    reception.reset()
    #expect(throws: WireError.self) { try reception.add(Fixture.hex("7c45bb")[...]) }
    #expect(try reception.add(Fixture.hex("419a")[...]) == [[0x41, 0x9a]])
  }
}
