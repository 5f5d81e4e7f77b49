import Frames
import Picture
import TestSupport
import Testing
import Wire

@testable import Codecs

@Suite struct JPEGTests {
  private let pool = VideoFramePool(width: 160, height: 96)

  private func frame() -> VideoFrame {
    TestPicture(width: 160, height: 96).draw(captureTime: .zero, sequence: 3, unixNanoseconds: CodecTesting.unixBase)
  }

  private func decode(_ bytes: [UInt8], pool: VideoFramePool? = nil) throws -> VideoFrame {
    let decoder = try JPEGDecoder()
    return try bytes.withUnsafeBytes { buffer in
      try decoder.decode(buffer, pool: pool ?? self.pool, captureTime: Instant(nanoseconds: 7), sequence: 9)
    }
  }

  @Test func aPictureComesBackAlikeInBrightnessAndColour() throws {
    let frame = frame()
    let bytes = try JPEGEncoder().encode(frame, quality: 95)
    let decoded = try decode(bytes)
    #expect(CodecTesting.meanSquaredError(frame, decoded) < 12)
    #expect(CodecTesting.chromaError(frame, decoded) < 12)
    #expect(decoded.captureTime == Instant(nanoseconds: 7) && decoded.sequence == 9)
    #expect(bytes.count > (try JPEGEncoder().encode(frame, quality: 40)).count)
  }

  @Test func blackAndWhiteBecomeLimitedRange() throws {
    let frame = pool.makeFrame(captureTime: .zero, sequence: 0)
    let canvas = Canvas(frame)
    canvas.clear(.black)
    canvas.fill(x: 80, y: 0, width: 80, height: 96, .white)
    let decoded = try decode(JPEGEncoder().encode(frame, quality: 100))
    #expect(decoded.y[8] == 16)
    #expect(decoded.y[150] == 235)
    #expect(decoded.u[4] == 128 && decoded.v[70] == 128)
  }

  /// Made by libjpeg-turbo's tools from a blue-to-orange slope of 64 × 48 pixels, as cameras send it.
  @Test(arguments: ["444", "422", "420", "440", "411", "grey"]) func everySubsamplingDecodes(sampling: String) throws {
    let bytes = Fixture.bytes("jpeg-slope-\(sampling).bin")
    let structure = try bytes.withUnsafeBytes { try JPEGStructure($0) }
    #expect(structure.width == 64 && structure.height == 48)
    let decoded = try decode(bytes, pool: VideoFramePool(width: 64, height: 48))
    let reference = try decode(Fixture.bytes("jpeg-slope-444.bin"), pool: VideoFramePool(width: 64, height: 48))
    #expect(CodecTesting.meanSquaredError(decoded, reference) < 4)
    if sampling == "grey" {
      #expect((0..<32).allSatisfy { decoded.u[$0] == 128 && decoded.v[$0 + 5 * decoded.strideUV] == 128 })
    } else {
      #expect(CodecTesting.chromaError(decoded, reference) < 30)
    }
  }

  @Test func anOddSizeFillsTheEvenFrame() throws {
    let decoded = try decode(Fixture.bytes("jpeg-slope-odd.bin"), pool: VideoFramePool(width: 63, height: 47))
    #expect(decoded.width == 64 && decoded.height == 48)
    #expect(decoded.y[63] == decoded.y[62])
    #expect(decoded.y[47 * decoded.strideY + 10] == decoded.y[46 * decoded.strideY + 10])
  }

  @Test func huffmanTablesMayBeMissingAsInMotionJPEG() throws {
    let whole = try JPEGEncoder().encode(frame(), quality: 80)
    let stripped = Self.withoutHuffmanTables(whole)
    #expect(stripped.count < whole.count - 400)
    #expect(CodecTesting.meanSquaredError(try decode(whole), try decode(stripped)) == 0)
  }

  @Test func paddingBehindThePictureIsNoDamage() throws {
    let whole = try JPEGEncoder().encode(frame())
    _ = try decode(whole + [UInt8](repeating: 0, count: 1000))
  }

  @Test func aTruncatedPictureIsAnErrorAndTheDecoderGoesOn() throws {
    let whole = try JPEGEncoder().encode(frame())
    let decoder = try JPEGDecoder()
    for length in stride(from: 0, to: whole.count - 2, by: 37) {
      #expect(throws: CodecError.self) {
        try whole.prefix(length).withUnsafeBytes {
          try decoder.decode($0, pool: pool, captureTime: .zero, sequence: 0)
        }
      }
    }
    _ = try whole.withUnsafeBytes { try decoder.decode($0, pool: pool, captureTime: .zero, sequence: 0) }
  }

  @Test func damageNeverTraps() throws {
    let whole = try JPEGEncoder().encode(frame())
    let decoder = try JPEGDecoder()
    var random = SeededGenerator(seed: 4)
    for _ in 0..<300 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
      }
      _ = try? bytes.withUnsafeBytes { try decoder.decode($0, pool: pool, captureTime: .zero, sequence: 0) }
    }
  }

  @Test func anotherSizeThanThePoolIsNamed() throws {
    let bytes = try JPEGEncoder().encode(frame())
    #expect(throws: CodecError.sizeMismatch(width: 160, height: 96)) {
      try decode(bytes, pool: VideoFramePool(width: 320, height: 96))
    }
  }

  /// Leaves out the DHT segments. ITU-T T.81 section B.2.4.2.
  private static func withoutHuffmanTables(_ jpeg: [UInt8]) -> [UInt8] {
    var result = Array(jpeg.prefix(2))
    var position = 2
    while position + 4 <= jpeg.count, jpeg[position] == 0xff {
      let marker = jpeg[position + 1]
      let length = Int(jpeg[position + 2]) << 8 | Int(jpeg[position + 3])
      if marker == 0xda { return result + jpeg[position...] }
      if marker != 0xc4 { result += jpeg[position..<position + 2 + length] }
      position += 2 + length
    }
    return result
  }
}
