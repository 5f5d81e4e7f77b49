import Frames
import Picture
import Testing
import Wire

@testable import Codecs

@Suite struct VP8Tests {
  private static let picture = TestPicture(width: 320, height: 180)

  private func encoder(
    width: Int = 320, height: Int = 180, kbps: Int = 400, layers: Int = 2
  ) throws -> VP8Encoder {
    try VP8Encoder(
      configuration: .init(width: width, height: height, bitrateKbps: kbps, speed: -10, temporalLayers: layers))
  }

  @Test(arguments: [1, 2]) func picturesComeBackAlike(layers: Int) throws {
    let encoder = try encoder(layers: layers)
    let decoder = try VP8Decoder()
    var last = 0.0
    for frame in CodecTesting.frames(Self.picture, 0..<40) {
      let encoded = try #require(try encoder.encode(frame))
      #expect(encoded.captureTime == frame.captureTime)
      #expect(encoded.width == 320 && encoded.height == 180)
      let decoded = try decoder.decode(encoded.data)
      last = CodecTesting.meanSquaredError(frame, decoded)
    }
    // 32 dB.
    #expect(last < 41)
  }

  @Test func theFirstFrameIsAKeyFrameAndLaterOnesOnlyOnRequest() throws {
    let encoder = try encoder()
    var keys: [Int] = []
    for (index, frame) in CodecTesting.frames(Self.picture, 0..<30).enumerated() {
      guard let encoded = try encoder.encode(frame, forceKeyFrame: index == 21) else { continue }
      let header = try #require(VP8FrameHeader(encoded.data))
      #expect(header.isKeyFrame == encoded.isKeyFrame)
      if encoded.isKeyFrame {
        keys.append(index)
        #expect(encoded.temporalLayer == 0)
        #expect(header.keyFrameSize == .init(width: 320, height: 180))
      }
    }
    #expect(keys == [0, 21])
  }

  @Test func theBaseLayerAloneDecodesToTheSamePictures() throws {
    // Nearly still, so that libvpx's own golden refresh would fire if it were not kept off.
    let encoder = try encoder()
    let all = try VP8Decoder()
    let base = try VP8Decoder()
    var layers: [Int] = []
    for index in 0..<70 {
      let frame = Self.picture.draw(
        captureTime: CodecTesting.time(index), sequence: UInt64(index / 6), unixNanoseconds: CodecTesting.unix(index))
      guard let encoded = try encoder.encode(frame, forceKeyFrame: index == 40) else { continue }
      layers.append(encoded.temporalLayer)
      let whole = try all.decode(encoded.data)
      guard encoded.temporalLayer == 0 else {
        #expect(encoded.isLayerSync)
        continue
      }
      #expect(CodecTesting.meanSquaredError(whole, try base.decode(encoded.data)) == 0)
    }
    #expect(layers.suffix(8).filter { $0 == 1 }.count == 4)
    #expect(layers.prefix(17).allSatisfy { $0 == 0 })
    #expect(Array(layers[17..<25]) == [1, 0, 1, 0, 1, 0, 1, 0])
  }

  @Test func oneLayerIsAllBase() throws {
    let encoder = try encoder(layers: 1)
    for frame in CodecTesting.frames(Self.picture, 0..<25) {
      #expect(try encoder.encode(frame)?.temporalLayer == 0)
    }
  }

  @Test(arguments: [1, 2]) func anotherBitrateHoldsFromTheNextSecondOn(layers: Int) throws {
    let encoder = try encoder(kbps: 600, layers: layers)
    func bytes(_ range: Range<Int>) throws -> Int {
      try CodecTesting.frames(Self.picture, range).reduce(0) { $0 + (try encoder.encode($1)?.data.count ?? 0) }
    }
    _ = try bytes(0..<60)
    for (second, kbps) in [(2, 250), (4, 500)] {
      try encoder.setBitrate(kbps: kbps)
      _ = try bytes(second * 30..<second * 30 + 30)
      let measured = Double(try bytes(second * 30 + 30..<second * 30 + 60) * 8) / 1000
      #expect(measured < Double(kbps) * 1.2)
      #expect(measured > Double(kbps) * 0.8)
    }
  }

  @Test(arguments: [(2, 2), (18, 34), (322, 182), (178, 98)]) func sizesNeedNotBeWholeMacroblocks(
    width: Int, height: Int
  ) throws {
    let picture = TestPicture(width: width, height: height)
    let encoder = try encoder(width: width, height: height)
    let decoder = try VP8Decoder()
    for frame in CodecTesting.frames(picture, 0..<6) {
      guard let encoded = try encoder.encode(frame) else { continue }
      let decoded = try decoder.decode(encoded.data)
      #expect(decoded.width == width && decoded.height == height)
    }
  }

  @Test func theTimecodeSurvivesTheRateThatWeStreamAt() throws {
    let picture = TestPicture(width: 640, height: 360)
    let encoder = try encoder(width: 640, height: 360, kbps: 375)
    let decoder = try VP8Decoder()
    for (index, frame) in CodecTesting.frames(picture, 0..<24).enumerated() {
      guard let encoded = try encoder.encode(frame) else { continue }
      let decoded = try decoder.decode(encoded.data)
      let expected = Timecode32.value(unixNanoseconds: CodecTesting.unix(index))
      #expect(Timecode32.read(decoded) == expected)
    }
  }

  /// Encoders share nothing: what one does with its buffers must not touch the other's, which have the same sizes.
  @Test func twoEncodersOfOneSizeDoNotDisturbEachOther() throws {
    let (width, height) = (1280, 720)
    let pictures = [TestPicture(width: width, height: height), TestPicture(width: width, height: height)]
    let encoders = try pictures.map { _ in try encoder(width: width, height: height, kbps: 2500) }
    let decoders = try pictures.map { _ in try VP8Decoder() }
    var errors = [0.0, 0.0]
    for index in 0..<12 {
      for which in 0..<2 {
        // Two pictures of different moments, so that a mix-up shows. Each encoder gets a key frame while the other runs.
        let shown = index + which * 50
        let frame = CodecTesting.frames(pictures[which], shown..<shown + 1)[0]
        let encoded = try encoders[which].encode(frame, forceKeyFrame: index == 4 + which)
        let decoded = try decoders[which].decode(#require(encoded).data)
        #expect(Timecode32.read(decoded) == Timecode32.value(unixNanoseconds: CodecTesting.unix(shown)))
        errors[which] = CodecTesting.meanSquaredError(frame, decoded)
      }
    }
    // 30 dB.
    #expect(errors.allSatisfy { $0 < 65 }, "\(errors)")
  }

  @Test func aFrameOfAnotherSizeIsRefused() throws {
    let encoder = try encoder(width: 640, height: 360)
    let frame = CodecTesting.frames(Self.picture, 0..<1)[0]
    #expect(throws: CodecError.sizeMismatch(width: 320, height: 180)) { try encoder.encode(frame) }
  }

  @Test func settingsOutOfRangeAreRefused() {
    for configuration in [
      VP8EncoderConfiguration(width: 0, height: 2), .init(width: 3, height: 2), .init(width: 20000, height: 2),
      .init(width: 32, height: 32, bitrateKbps: 0), .init(width: 32, height: 32, temporalLayers: 3),
    ] {
      #expect(throws: CodecError.self) { try VP8Encoder(configuration: configuration) }
    }
  }

  /// Stills for a path that carries hardly more than the sound.
  @Test func keyFramesEveryFiveSecondsAreAsSmallAsTheRateSays() throws {
    let encoder = try VP8Encoder(
      configuration: .init(width: 320, height: 180, framesPerSecond: 10, bitrateKbps: 8, speed: -5, temporalLayers: 2))
    let decoder = try VP8Decoder()
    for number in stride(from: 0, to: 1500, by: 150) {
      let frame = try #require(CodecTesting.frames(Self.picture, number..<number + 1).first)
      let still = try #require(try encoder.encode(frame, forceKeyFrame: true))
      #expect(still.data.count < 4000)
      // 28 dB.
      #expect(CodecTesting.meanSquaredError(frame, try decoder.decode(still.data)) < 100)
    }
  }

  @Test func captureTimesThatJumpOrStandStillDoNotHarm() throws {
    let encoder = try encoder()
    let decoder = try VP8Decoder()
    let times: [Int64] = [0, 0, 33, 20, -500, 10_000, 10_033, 90_000_000, 90_000_001]
    var sizes: [Int] = []
    for (index, milliseconds) in times.enumerated() {
      let frame = Self.picture.draw(
        captureTime: Instant(nanoseconds: milliseconds * 1_000_000), sequence: UInt64(index), unixNanoseconds: 0)
      guard let encoded = try encoder.encode(frame) else { continue }
      sizes.append(encoded.data.count)
      _ = try decoder.decode(encoded.data)
    }
    // 400 kbit/s for ten seconds would be half a megabyte.
    #expect(sizes.max()! < 30_000)
  }

  @Test func damagedFramesAreErrors() throws {
    let encoder = try encoder()
    let decoder = try VP8Decoder(maximumPixels: 320 * 180)
    let frames = CodecTesting.frames(Self.picture, 0..<2)
    let key = try #require(try encoder.encode(frames[0])).data
    #expect(throws: CodecError.self) { try decoder.decode([]) }
    #expect(throws: CodecError.self) { try decoder.decode(Array(key.prefix(6))) }
    var huge = key
    huge[6] = 0xff
    huge[7] = 0x3f
    #expect(throws: CodecError.unsupported("a VP8 picture of 16383×180")) { try decoder.decode(huge) }
    _ = try decoder.decode(key)
  }

  @Test func threadsFollowTheCores() {
    #expect(VP8EncoderConfiguration.defaultThreads(width: 1280, height: 720, cores: 2) == 1)
    #expect(VP8EncoderConfiguration.defaultThreads(width: 1280, height: 720, cores: 4) == 2)
    #expect(VP8EncoderConfiguration.defaultThreads(width: 640, height: 360, cores: 8) == 1)
  }

  // MARK: Noise

  /// A grey room with the noise of a dark camera; the same pictures each time.
  private static func room(_ count: Int) -> (clean: VideoFrame, noisy: [VideoFrame]) {
    let pool = VideoFramePool(width: 320, height: 192)
    var random: UInt64 = 42
    func frame(_ number: Int, noise: Int) -> VideoFrame {
      let frame = pool.makeFrame(captureTime: CodecTesting.time(number), sequence: UInt64(number))
      frame.mutableU.update(repeating: 128, count: frame.strideUV * frame.height)
      for row in 0..<frame.height {
        for column in 0..<frame.width {
          random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          let level = 40 + (column / 40) * 5 + (row / 48) * 7
          frame.mutableY[row * frame.strideY + column] = UInt8(
            clamping: level + (noise > 0 ? Int(random >> 33) % (2 * noise + 1) - noise : 0))
        }
      }
      return frame
    }
    return (frame(0, noise: 0), (0..<count).map { frame($0, noise: 9) })
  }

  /// Bytes and error against the picture without noise, of the second half.
  private func encode(
    _ room: (clean: VideoFrame, noisy: [VideoFrame]), change: (Int, VP8Encoder) throws -> Bool = { _, _ in false },
    filter: VP8NoiseFilter = .off
  ) throws -> (bytes: Int, error: Double) {
    let encoder = try VP8Encoder(
      configuration: .init(
        width: 320, height: 192, bitrateKbps: 2000, speed: -8, noiseFilter: filter))
    let decoder = try VP8Decoder()
    var (bytes, error, count) = (0, 0.0, 0)
    for (number, frame) in room.noisy.enumerated() {
      let wantsKeyFrame = try change(number, encoder)
      guard let encoded = try encoder.encode(frame, forceKeyFrame: wantsKeyFrame) else { continue }
      let decoded = try decoder.decode(encoded.data)
      guard number >= room.noisy.count / 2 else { continue }
      bytes += encoded.data.count
      error += CodecTesting.meanSquaredError(room.clean, decoded)
      count += 1
    }
    return (bytes, error / Double(max(1, count)))
  }

  @Test func theNoiseFilterSavesBitsAndShowsTheRoom() throws {
    let room = Self.room(60)
    let (off, on) = (
      try encode(room), try encode(room, filter: .night)
    )
    #expect(on.bytes < off.bytes / 2, "\(on) \(off)")
    #expect(on.error < off.error * 0.75, "\(on) \(off)")
  }

  /// When the lamp goes on, in the middle of a session.
  @Test func theNoiseFilterCanBeSwitchedWhileItRuns() throws {
    let room = Self.room(60)
    let off = try encode(room)
    let switched = try encode(
      room,
      change: { number, encoder in
        if number == 15 { try encoder.setNoiseFilter(.night) }
        return number == 15
      })
    #expect(switched.error < off.error * 0.75, "\(switched) \(off)")
    let back = try encode(
      room,
      change: { number, encoder in
        if number == 10 { try encoder.setNoiseFilter(.off) }
        return number == 10
      }, filter: .night)
    #expect(back.error > switched.error * 1.2, "\(back) \(switched)")
  }

  @Test(arguments: [(-1, 4), (5, 4), (4, -1), (4, 64)]) func aNoiseFilterThatLibvpxDoesNotHaveIsRefused(
    sensitivity: Int, minimumQuantizer: Int
  ) throws {
    let filter = VP8NoiseFilter(sensitivity: sensitivity, minimumQuantizer: minimumQuantizer)
    #expect(throws: CodecError.self) { try encoder().setNoiseFilter(filter) }
    #expect(throws: CodecError.self) {
      try VP8Encoder(configuration: .init(width: 320, height: 192, noiseFilter: filter))
    }
  }
}
