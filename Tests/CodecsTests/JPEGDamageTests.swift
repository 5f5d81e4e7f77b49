import Codecs
import Frames
import TestSupport
import Testing
import Wire

/// The table of interfaces/devices.md, "Motion JPEG": which damage is repaired, and which is refused. A picture of 160 × 96
/// pixels; 4:2:2 as webcams have it, unless a name says otherwise.
@Suite struct JPEGDamageTests {
  private let pool = VideoFramePool(width: 160, height: 96)
  private static let whole = Fixture.bytes("jpeg-picture.bin")
  /// The same picture with a restart marker behind each row of MCUs.
  private static let restarts = Fixture.bytes("jpeg-restart.bin")

  private func decode(_ bytes: [UInt8], _ decoder: JPEGDecoder? = nil) throws -> VideoFrame {
    let decoder = try decoder ?? JPEGDecoder()
    return try bytes.withUnsafeBytes { try decoder.decode($0, pool: pool, captureTime: .zero, sequence: 0) }
  }

  struct Case: CustomTestStringConvertible, Sendable {
    var name: String
    var bytes: [UInt8]
    var testDescription: String { name }

    init(_ name: String, _ bytes: [UInt8]) {
      self.name = name
      self.bytes = bytes
    }
  }

  private static let noEnd = Array(whole.dropLast(2))
  private static let noise: [UInt8] = {
    var random = SeededGenerator(seed: 11)
    return (0..<3000).map { _ in .random(in: 0...255, using: &random) }
  }()

  static let repaired: [Case] = [
    Case("as it is", whole),
    Case("without EOI", noEnd),
    Case("half of EOI", noEnd + [0xff]),
    Case("without EOI, zeros up to 512", noEnd + [UInt8](repeating: 0, count: 512 - noEnd.count % 512)),
    Case("without EOI, 5000 zeros", noEnd + [UInt8](repeating: 0, count: 5000)),
    Case("without EOI, FF", noEnd + [UInt8](repeating: 0xff, count: 700)),
    Case("without EOI, a byte repeated", noEnd + [UInt8](repeating: 0x55, count: 700)),
    Case("without EOI, garbage", noEnd + noise),
    Case("without EOI, another picture", noEnd + whole),
    Case("zeros before EOI", noEnd + [UInt8](repeating: 0, count: 300) + [0xff, 0xd9]),
    Case("fill bytes before EOI", noEnd + [0xff, 0xff, 0xff, 0xff, 0xd9]),
    Case("nine bytes before EOI", noEnd + [1, 2, 3, 4, 5, 6, 7, 8, 9, 0xff, 0xd9]),
    Case("zeros behind EOI", whole + [UInt8](repeating: 0, count: 1000)),
    Case("garbage behind EOI", whole + noise),
    Case("another picture behind it", whole + whole),
    Case("two EOI", whole + [0xff, 0xd9]),
    Case("bytes before SOI", [0, 0, 0, 0, 0xff, 0xd8, 1] + whole),
    Case("an APP segment longer than the picture", patched([0xff, 0xe0], [2: 0xff, 3: 0xf0])),
    Case("an APP segment that reaches into the next", patched([0xff, 0xe0], [2: 0, 3: 40])),
    Case("an APP segment of length 0", patched([0xff, 0xe0], [2: 0, 3: 0])),
    Case("Se 0", withScanParameters(0, 0, 0)),
    Case("Ah and Al 1", withScanParameters(0, 63, 0x11)),
    Case("Se 0, Ah and Al 1", withScanParameters(0, 0, 0x11)),
    Case("odd SOS and no EOI", Array(withScanParameters(0, 0, 0x11).dropLast(2))),
    Case("without Huffman tables", without([0xc4])),
    Case("without Huffman tables and APP0", without([0xc4, 0xe0])),
    Case("AVI1", avi1),
    Case("AVI1 without EOI, zeros", Array(avi1.dropLast(2)) + [UInt8](repeating: 0, count: 200)),
    Case("eight rows more in the header", withSize(160, 104)),
    Case("one row more in the header", withSize(160, 97)),
    Case("many rows more in the header", withSize(160, 300)),
    Case("fewer rows in the header", withSize(160, 80)),
    Case("no rows in the header", withSize(160, 0)),
    Case("eight columns more in the header", withSize(168, 96)),
    Case("fewer columns in the header", withSize(128, 96)),
    Case("restart markers", restarts),
    Case("restart markers without EOI", Array(restarts.dropLast(2))),
    Case("a byte before restart markers", withRestarts { [1, 0xff, $0] }),
    Case("four bytes before restart markers", withRestarts { [1, 2, 3, 4, 0xff, $0] }),
    Case(
      "nine bytes before restart markers, no EOI", withRestarts { [9, 8, 7, 6, 5, 4, 3, 2, 1, 0xff, $0] }.dropLastTwo),
    Case("fill bytes before restart markers", withRestarts { [0xff, 0xff, 0xff, $0] }),
    Case("a restart marker missing", withRestarts { $0 == 0xd3 ? [] : [0xff, $0] }),
    Case("no restart markers, though announced", withRestarts { _ in [] }),
    Case("restart markers announced, none made", announcingRestarts),
  ]

  @Test(arguments: repaired) func aWholePictureIsShown(_ damage: Case) throws {
    let reference = try decode(Self.whole)
    let decoder = try JPEGDecoder()
    // The decoder goes on with the next picture, whatever that is.
    for _ in 0..<2 {
      let picture = try decode(damage.bytes, decoder)
      #expect(CodecTesting.meanSquaredError(picture, reference) == 0)
      #expect(CodecTesting.chromaError(picture, reference) == 0)
    }
    #expect(CodecTesting.meanSquaredError(try decode(Self.whole, decoder), reference) == 0)
  }

  private static let zeros = [UInt8](repeating: 0, count: 600)
  static let fillers = [
    Case("nothing", []), Case("EOI", [0xff, 0xd9]), Case("zeros", zeros), Case("zeros and EOI", zeros + [0xff, 0xd9]),
    Case("FF", [UInt8](repeating: 0xff, count: 64)), Case("a byte repeated", [UInt8](repeating: 0x55, count: 600)),
  ]

  static let refused: [Case] = [
    Case("nothing", []),
    Case("SOI alone", [0xff, 0xd8]),
    Case("SOI and EOI", [0xff, 0xd8, 0xff, 0xd9]),
    Case("zeros", [UInt8](repeating: 0, count: 4000)),
    Case("noise", noise),
    Case("FF", [UInt8](repeating: 0xff, count: 4000)),
    Case("a lost USB packet: zeros in the data", hole { _ in 0 }),
    Case("a lost USB packet: data missing", Array(whole[..<2000] + whole[2512...])),
    Case("cut, odd SOS", Array(withScanParameters(0, 0, 0x11)[..<3000])),
    Case(
      "cut behind bytes before restart markers", Array(withRestarts { [1, 2, 0xff, $0] }.prefix(restarts.count - 400))),
    Case(
      "cut behind bytes before restart markers, with EOI",
      withRestarts { [1, 2, 0xff, $0] }.prefix(restarts.count - 400) + [0xff, 0xd9]),
    Case("the last of the restart intervals cut", Array(restarts.prefix(restarts.count - 60))),
    Case("rows missing between restart markers", withoutInterval),
    Case("eight rows more in the header, and cut", Array(withSize(160, 104).prefix(3500))),
    Case("another size, in both directions", withSize(128, 80)),
    Case("colour components of two sizes", withSampling(0x22, 0x11, 0x21)),
    Case("12 bits", patched([0xff, 0xc0], [4: 12])),
    Case("progressive, cut between two scans", progressiveWithoutScans),
  ]

  @Test(arguments: refused) func aPictureThatIsNotWholeIsRefused(_ damage: Case) throws {
    let decoder = try JPEGDecoder()
    for _ in 0..<2 { #expect(throws: CodecError.self) { try decode(damage.bytes, decoder) } }
    #expect(CodecTesting.meanSquaredError(try decode(Self.whole, decoder), try decode(Self.whole)) == 0)
  }

  /// Cut at every length of its data, and filled up in every way that cameras and drivers have.
  @Test(arguments: fillers) func aCutPictureIsNeverShown(filler: Case) throws {
    for (original, sequence) in [(Self.whole, 7), (Self.restarts, 11)] {
      let decoder = try JPEGDecoder()
      let data = Self.position(of: [0xff, 0xda], original) + 14
      // The last bytes may be those of an edge nobody sees, and what fills up may happen to be right.
      for length in stride(from: data, to: original.count - 24, by: sequence) {
        let cut = Array(original.prefix(length)) + filler.bytes
        #expect(throws: CodecError.self, "cut at \(length) of \(original.count)") { try decode(cut, decoder) }
      }
    }
  }

  @Test func aProgressivePictureIsShown() throws {
    let picture = try decode(Fixture.bytes("jpeg-progressive.bin"))
    #expect(CodecTesting.meanSquaredError(picture, try decode(Self.whole)) < 2)
  }

  /// With tables of its own the data of a black picture are zeros.
  @Test func zerosMayBeThePicture() throws {
    let black = try decode(Fixture.bytes("jpeg-black-optimized.bin"))
    #expect(black.y[0] == 16 && black.y[95 * black.strideY + 159] == 16)
  }

  @Test func unusualKindsAreNamed() throws {
    for (bytes, words) in [
      (Self.patched([0xff, 0xc0], [4: 12]), "12 bits"), (Self.withSampling(0x22, 0x11, 0x21), "different sizes"),
    ] {
      #expect { try decode(bytes) } throws: { error in
        if case CodecError.unsupported(let text) = error { text.contains(words) } else { false }
      }
    }
  }

  @Test func whatIsWrongIsNamedAndARegularPictureHasNothing() throws {
    let decoder = try JPEGDecoder()
    _ = try decode(Self.withScanParameters(0, 0, 0x11), decoder)
    #expect(decoder.irregularities == ["odd SOS parameters"])
    _ = try decode(Self.noEnd, decoder)
    #expect(decoder.irregularities == ["no EOI marker"])
    _ = try decode(Self.whole, decoder)
    #expect(decoder.irregularities.isEmpty)
  }

  /// Bits that flip on a bad cable: any result but a trap, and a picture that comes has not lost its lower half.
  @Test func flippedBitsNeverTrap() throws {
    let decoder = try JPEGDecoder()
    var random = SeededGenerator(seed: 4)
    for original in [
      Self.whole, Self.restarts, Fixture.bytes("jpeg-progressive.bin"), Fixture.bytes("jpeg-black-optimized.bin"),
    ] {
      for _ in 0..<200 {
        var bytes = original
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          bytes[.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
        }
        _ = try? decode(bytes, decoder)
      }
    }
    #expect(CodecTesting.meanSquaredError(try decode(Self.whole, decoder), try decode(Self.whole)) == 0)
  }

  // MARK: Making damage

  private static func position(of marker: [UInt8], _ bytes: [UInt8]) -> Int {
    bytes.indices.first { bytes[$0...].starts(with: marker) }!
  }

  /// Bytes replaced by their distance from a marker.
  private static func patched(_ marker: [UInt8], _ changes: [Int: UInt8], _ bytes: [UInt8] = whole) -> [UInt8] {
    var result = bytes
    let start = position(of: marker, bytes)
    for (offset, byte) in changes { result[start + offset] = byte }
    return result
  }

  private static func withScanParameters(_ start: UInt8, _ end: UInt8, _ approximation: UInt8) -> [UInt8] {
    patched([0xff, 0xda], [11: start, 12: end, 13: approximation])
  }

  private static func withSize(_ width: Int, _ height: Int) -> [UInt8] {
    patched(
      [0xff, 0xc0], [5: UInt8(height >> 8), 6: UInt8(height & 255), 7: UInt8(width >> 8), 8: UInt8(width & 255)])
  }

  private static func withSampling(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> [UInt8] {
    patched([0xff, 0xc0], [11: first, 14: second, 17: third])
  }

  /// Without the segments of these markers. ITU-T T.81 section B.2.4.
  private static func without(_ markers: Set<UInt8>) -> [UInt8] {
    var result = Array(whole.prefix(2))
    var position = 2
    while whole[position + 1] != 0xda {
      let end = position + 2 + Int(whole[position + 2]) << 8 + Int(whole[position + 3])
      if !markers.contains(whole[position + 1]) { result += whole[position..<end] }
      position = end
    }
    return result + whole[position...]
  }

  private static var avi1: [UInt8] {
    [0xff, 0xd8, 0xff, 0xe0, 0, 16] + Array("AVI1".utf8) + [UInt8](repeating: 0, count: 10)
      + without([0xc4, 0xe0])[2...]
  }

  /// Each restart marker replaced.
  private static func withRestarts(_ replacement: (UInt8) -> [UInt8]) -> [UInt8] {
    let data = position(of: [0xff, 0xda], restarts) + 14
    var result = Array(restarts.prefix(data))
    var index = data
    while index < restarts.count {
      if restarts[index] == 0xff, 0xd0...0xd7 ~= restarts[index + 1] {
        result += replacement(restarts[index + 1])
        index += 2
      } else {
        result.append(restarts[index])
        index += 1
      }
    }
    return result
  }

  private static var withoutInterval: [UInt8] {
    let (from, to) = (position(of: [0xff, 0xd4], restarts) + 2, position(of: [0xff, 0xd5], restarts))
    return Array(restarts[..<from] + restarts[to...])
  }

  /// DRI of ten MCUs, and data without a marker.
  private static var announcingRestarts: [UInt8] {
    let scan = position(of: [0xff, 0xda], whole)
    return whole[..<scan] + [0xff, 0xdd, 0, 4, 0, 10] + whole[scan...]
  }

  private static func hole(_ byte: (Int) -> UInt8) -> [UInt8] {
    var result = whole
    for index in 2000..<2512 { result[index] = byte(index) }
    return result
  }

  private static var progressiveWithoutScans: [UInt8] {
    let bytes = Fixture.bytes("jpeg-progressive.bin")
    let scans = bytes.indices.filter { bytes[$0...].starts(with: [0xff, 0xda]) }
    return Array(bytes.prefix(scans[6]))
  }
}

extension [UInt8] {
  fileprivate var dropLastTwo: [UInt8] { Array(dropLast(2)) }
}
