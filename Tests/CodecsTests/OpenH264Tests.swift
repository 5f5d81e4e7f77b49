import Frames
import Picture
import Testing
import VideoFormats
import Wire

@testable import Codecs

@Suite struct OpenH264Tests {
  private static let picture = TestPicture(width: 320, height: 180)

  private func encoder(width: Int = 320, height: Int = 180, kbps: Int = 400) throws -> OpenH264Encoder {
    try OpenH264Encoder(width: width, height: height, bitrateKbps: kbps)
  }

  private func types(_ data: [UInt8]) -> [UInt8] { AnnexB.units(of: data).map { $0[$0.startIndex] & 0x1f } }

  @Test func picturesComeBackAlike() throws {
    let encoder = try encoder()
    let decoder = try OpenH264Decoder()
    var last = 0.0
    for frame in CodecTesting.frames(Self.picture, 0..<40) {
      guard let encoded = try encoder.encode(frame) else { continue }
      #expect(encoded.captureTime == frame.captureTime && encoded.codec == .h264 && encoded.temporalLayer == 0)
      #expect(encoded.width == 320 && encoded.height == 180)
      let decoded = try decoder.decode(encoded.data)
      #expect(decoded.width == 320 && decoded.height == 180)
      last = CodecTesting.meanSquaredError(frame, decoded)
    }
    // 32 dB.
    #expect(last < 41)
  }

  /// Each with its parameter sets, and one slice: constrained baseline of level 3.1, as it is offered.
  @Test(arguments: [(320, 180), (1280, 720), (178, 98), (720, 1280)]) func keyFramesComeOnRequestWithParameterSets(
    width: Int, height: Int
  ) throws {
    let picture = TestPicture(width: width, height: height)
    let encoder = try encoder(width: width, height: height, kbps: 1000)
    var keys: [Int] = []
    for (index, frame) in CodecTesting.frames(picture, 0..<30).enumerated() {
      guard let encoded = try encoder.encode(frame, forceKeyFrame: index == 21) else { continue }
      #expect(types(encoded.data) == (encoded.isKeyFrame ? [7, 8, 5] : [1]))
      guard encoded.isKeyFrame else { continue }
      keys.append(index)
      let parameters = try H264SequenceParameters(parsing: AnnexB.units(of: encoded.data)[0])
      #expect(parameters.profile == 66 && parameters.constraints & 0x4f == 0x40 && parameters.level == 31)
      #expect(parameters.width == width && parameters.height == height)
    }
    #expect(keys == [0, 21])
  }

  /// Also where the camera delivers a fifth of its frames, as in the dark. With more for each the picture is as good as it gets.
  @Test(arguments: [(1, 150, 300), (5, 75, 150)]) func anotherBitrateHoldsFromTheNextSecondOn(
    step: Int, lower: Int, higher: Int
  ) throws {
    let encoder = try encoder(kbps: 600)
    func bytes(_ range: Range<Int>) throws -> Int {
      try stride(from: range.lowerBound, to: range.upperBound, by: step).reduce(0) { sum, index in
        let frame = CodecTesting.frames(Self.picture, index..<index + 1)[0]
        return sum + (try encoder.encode(frame)?.data.count ?? 0)
      }
    }
    _ = try bytes(0..<120)
    for (second, kbps) in [(4, lower), (8, higher)] {
      try encoder.setBitrate(kbps: kbps)
      _ = try bytes(second * 30..<second * 30 + 60)
      let measured = Double(try bytes(second * 30 + 60..<second * 30 + 120) * 8) / 2000
      #expect(measured < Double(kbps) * 1.25, "\(measured)")
      #expect(measured > Double(kbps) * 0.75, "\(measured)")
    }
  }

  @Test func theTimecodeSurvivesTheRateThatWeStreamAt() throws {
    let picture = TestPicture(width: 640, height: 360)
    let encoder = try encoder(width: 640, height: 360, kbps: 375)
    let decoder = try OpenH264Decoder()
    for (index, frame) in CodecTesting.frames(picture, 0..<24).enumerated() {
      guard let encoded = try encoder.encode(frame) else { continue }
      let decoded = try decoder.decode(encoded.data)
      let expected = Timecode32.value(unixNanoseconds: CodecTesting.unix(index))
      #expect(Timecode32.read(decoded) == expected)
    }
  }

  @Test func aFrameOfAnotherSizeIsRefused() throws {
    let frame = CodecTesting.frames(Self.picture, 0..<1)[0]
    #expect(throws: CodecError.sizeMismatch(width: 320, height: 180)) {
      try encoder(width: 640, height: 360).encode(frame)
    }
  }

  @Test(arguments: [(0, 32, 100), (33, 32, 100), (14, 32, 100), (1920, 1080, 100), (32, 32, 0), (32, 32, 20_000)])
  func settingsOutOfRangeAreRefused(width: Int, height: Int, kbps: Int) {
    #expect(throws: CodecError.self) { try OpenH264Encoder(width: width, height: height, bitrateKbps: kbps) }
  }

  /// Stills for a path that carries hardly more than the sound.
  @Test func keyFramesEveryFiveSecondsAreAsSmallAsTheRateSays() throws {
    let encoder = try OpenH264Encoder(width: 320, height: 180, framesPerSecond: 10, bitrateKbps: 8)
    let decoder = try OpenH264Decoder()
    for number in stride(from: 0, to: 1500, by: 150) {
      let frame = try #require(CodecTesting.frames(Self.picture, number..<number + 1).first)
      let still = try #require(try encoder.encode(frame, forceKeyFrame: true))
      #expect(still.data.count < 4000, "\(still.data.count)")
      // 28 dB.
      let error = CodecTesting.meanSquaredError(frame, try decoder.decode(still.data))
      #expect(error < 100, "\(error)")
    }
  }

  @Test func captureTimesThatJumpOrStandStillDoNotHarm() throws {
    let encoder = try encoder()
    let decoder = try OpenH264Decoder()
    let times: [Int64] = [0, 0, 33, 20, -500, 10_000, 10_033, 90_000_000, 90_000_001]
    var sizes: [Int] = []
    for (index, milliseconds) in times.enumerated() {
      let frame = Self.picture.draw(
        captureTime: Instant(nanoseconds: milliseconds * 1_000_000), sequence: UInt64(index), unixNanoseconds: 0)
      guard let encoded = try encoder.encode(frame) else { continue }
      sizes.append(encoded.data.count)
      _ = try decoder.decode(encoded.data)
    }
    #expect(sizes.count > 4 && sizes.max()! < 30_000)
  }

  @Test func damagedFramesAreErrors() throws {
    let encoder = try encoder()
    let decoder = try OpenH264Decoder(maximumPixels: 320 * 180)
    let frames = CodecTesting.frames(Self.picture, 0..<2)
    let key = try #require(try encoder.encode(frames[0])).data
    #expect(throws: CodecError.self) { try decoder.decode([]) }
    #expect(throws: CodecError.self) { try decoder.decode(Array(key.prefix(8))) }
    let huge = try #require(
      try self.encoder(width: 640, height: 360).encode(
        CodecTesting.frames(TestPicture(width: 640, height: 360), 0..<1)[0]))
    #expect(throws: CodecError.unsupported("an H.264 picture of 640×360")) { try decoder.decode(huge.data) }
    _ = try decoder.decode(key)
  }
}
