import TestSupport
import Testing
import VideoFormats
import Wire

@Suite struct AnnexBTests {
  private func units(_ hex: String) -> [[UInt8]] { AnnexB.units(of: Fixture.hex(hex)).map { Array($0) } }

  @Test func unitsStandBehindStartCodesOfEitherLength() {
    #expect(units("00000001 6711 000001 68 00000001 650000030100") == [[0x67, 0x11], [0x68], [0x65, 0, 0, 3, 1]])
  }

  @Test(arguments: ["", "00", "000001", "00000001", "0000010000010000", "65b80004", "0102"])
  func nothingStandsWhereNoUnitIs(hex: String) { #expect(units(hex).isEmpty) }

  @Test func whatStandsBeforeTheFirstStartCodeIsLeftOut() {
    #expect(units("ff 000001 41 9a") == [[0x41, 0x9a]])
    #expect(AnnexB.units(of: Fixture.hex("aa000001 000001 419a bb")[1...8]).map { Array($0) } == [[0x41, 0x9a]])
  }

  @Test func aStreamOfUnitsComesApartAgain() {
    let parts: [[UInt8]] = [[0x67, 1], [0x68], [0x65] + Array(repeating: 0, count: 5) + [9]]
    // Escaped, as units are.
    #expect(AnnexB.stream(of: parts.prefix(2)) == Fixture.hex("000000016701 0000000168"))
    #expect(AnnexB.units(of: AnnexB.stream(of: parts.prefix(2))).map { Array($0) } == Array(parts.prefix(2)))
  }
}

@Suite struct VideoCodecTests {
  @Test func codecsAreKnownByTheirNamesInAnyCase() {
    #expect(VideoCodec(name: "h264") == .h264 && VideoCodec(name: "VP8") == .vp8)
    #expect(VideoCodec(name: "H265") == nil && VideoCodec(name: "") == nil)
    for codec in VideoCodec.allCases { #expect(VideoCodec(name: codec.name) == codec) }
  }

  @Test func eachCodecHasItsOwnValue() {
    var names = PerCodec(\.name)
    names[.h264] = "x"
    #expect(names[.vp8] == "VP8" && names[.h264] == "x")
  }
}

/// Parameter sets as x264 and OpenH264 write them.
@Suite struct H264SequenceParametersTests {
  static let sets: [(hex: String, profile: UInt8, constraints: UInt8, level: UInt8, width: Int, height: Int)] = [
    ("6742c01fd900a02ff970110000030001000003003c0f183248", 66, 0xc0, 31, 640, 360),
    ("6742c01e8c8d405017fcb00f08846a", 66, 0xc0, 30, 640, 360),
    ("67640028acd940780227e5c044000003000400000300f03c60c658", 100, 0, 40, 1920, 1080),
    ("674d401feca05a126c0440000003004000000f07c58b6580", 77, 0x40, 31, 720, 576),
    // As fields, 4:4:4, with scaling lists, 4:2:2.
    ("674d401eeca05a126c0440000003004000000c87c50a6580", 77, 0x40, 30, 720, 576),
    ("67f4001f919b281b07bc5f8088000003000800000301e078c18cb0", 244, 0, 31, 854, 480),
    ("6764001facd9405005bb0110000003001000000303c0f1831960", 100, 0, 31, 1280, 720),
    ("677a000dbcd9416096c044000003000400000300f03c50a658", 122, 0, 13, 352, 288),
  ]

  @Test(arguments: 0..<sets.count) func aSetTellsProfileLevelAndSize(number: Int) throws {
    let set = Self.sets[number]
    let parameters = try H264SequenceParameters(parsing: Fixture.hex(set.hex))
    #expect(parameters.profile == set.profile && parameters.constraints == set.constraints)
    #expect(parameters.level == set.level)
    #expect(parameters.width == set.width && parameters.height == set.height, "\(parameters)")
  }

  @Test(arguments: 0..<sets.count) func whatIsCutShortIsRefused(number: Int) {
    let whole = Fixture.hex(Self.sets[number].hex)
    // Up to the size; what follows it is not read.
    for count in 0..<8 { #expect(throws: WireError.self) { try H264SequenceParameters(parsing: whole.prefix(count)) } }
  }

  @Test(arguments: [
    // Another type of unit; a number with more than 32 bits; a set that is too long.
    "68cb83cb20", "6742c01f0000000000000000ff", "6742c01f" + String(repeating: "ff", count: 1024),
  ])
  func whatIsNoSetIsRefused(hex: String) {
    #expect(throws: WireError.self) { try H264SequenceParameters(parsing: Fixture.hex(hex)) }
  }
}
