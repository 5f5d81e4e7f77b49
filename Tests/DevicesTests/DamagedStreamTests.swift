import Codecs
import Foundation
import Frames
import TestSupport
import Testing
import Wire

@testable import Devices

/// A camera whose Motion JPEG is damaged in every way that somebody thought of, some in a row, with whole ones between:
/// nothing traps, no picture costs much memory or time, and the stream goes on.
@Suite struct DamagedStreamTests {
  struct Damage: CustomTestStringConvertible, Sendable {
    var name: String
    var bytes: [UInt8]
    /// Of the fault that is named; nil: the picture is shown.
    var fault: String?
    var testDescription: String { name }

    init(_ name: String, _ bytes: [UInt8], fault: String? = nil) {
      (self.name, self.bytes, self.fault) = (name, bytes, fault)
    }
  }

  /// 160 × 96, 4:2:2.
  private static let whole = Fixture.bytes("jpeg-picture.bin")
  private static let progressive = Fixture.bytes("jpeg-progressive.bin")
  private static let noise: [UInt8] = {
    var random = SeededGenerator(seed: 8)
    return (0..<10 << 20).map { _ in .random(in: 0...255, using: &random) }
  }()

  private static let cuts: [Damage] = (1...9).flatMap { (tenth: Int) -> [Damage] in
    let cut = Array(whole.prefix(whole.count * tenth / 10))
    let some = Array(progressive.prefix(progressive.count * tenth / 10))
    return [
      Damage("cut at \(tenth)0 %", cut, fault: ""), Damage("cut at \(tenth)0 %, EOI", cut + [0xff, 0xd9], fault: ""),
      Damage("cut at \(tenth)0 %, noise", cut + Array(noise.prefix(2000)), fault: ""),
      Damage("cut at \(tenth)0 %, progressive", some, fault: ""),
    ]
  }

  private static let unusual: [Damage] = [
    Damage("nothing", [], fault: "no JPEG"), Damage("noise", Array(noise.prefix(100_000)), fault: ""),
    Damage("10 MB of noise", noise, fault: ""), Damage("10 MB of FF", filler(0xff), fault: "no JPEG"),
    Damage("SOI without end", soi + filler(0xff), fault: ""),
    Damage("segments without end", soi + many([0xff, 0xe1, 0xff, 0xff], 20_000), fault: ""),
    Damage("0 × 0", withSize(0, 0), fault: "0x0"),
    Damage("65535 × 65535", withSize(65535, 65535), fault: "65535x65535"),
    Damage("65535 × 65535, progressive", withSize(65535, 65535, progressive), fault: "65535x65535"),
    Damage("65500 × 65500, plain", plain(65500, 65500, blocks: 1000), fault: "65500x65500"),
    Damage("16384 × 16384, plain", plain(16384, 16384, blocks: 1000), fault: "16384x16384"),
    Damage("12 bits", patched(0xc0, 4, 12), fault: "12 bits"), Damage("0 bits", patched(0xc0, 4, 0), fault: "0 bits"),
    Damage("CMYK", plain(160, 96, components: 4), fault: "4 components"),
    Damage("two components", plain(160, 96, components: 2), fault: "2 components"),
    Damage("five components", plain(160, 96, components: 5), fault: "damaged"),
    Damage("255 components", patched(0xc0, 9, 255), fault: "damaged"),
    Damage("no components", patched(0xc0, 9, 0), fault: "damaged"),
    Damage("sampling 0", patched(0xc0, 11, 0), fault: "damaged"),
    Damage("sampling 15 × 15", patched(0xc0, 11, 0xff), fault: "damaged"),
    Damage("quantization table 9", patched(0xc0, 12, 9), fault: ""),
    Damage("lossless", patched(0xc0, 1, 0xc3), fault: ""), Damage("hierarchical", patched(0xc0, 1, 0xc5), fault: ""),
    Damage("arithmetic, cut", Array(patched(0xc0, 1, 0xc9).dropLast(2)), fault: ""),
    Damage("a table of 4096 codes", patched(0xc4, 5, 255), fault: ""),
    Damage("two frame headers", twice(0xc0), fault: "two frame headers"),
    Damage("a scan before the frame", without(0xc0), fault: "before the frame header"),
    Damage("501 scans", scans(501), fault: "500 scans"),
  ]

  private static let shown: [Damage] = [
    Damage("two SOI", soi + whole), Damage("a hundred SOI", many(soi, 100) + whole),
    Damage("10 MB of noise behind it", whole + noise), Damage("10 MB of zeros behind it", whole + filler(0)),
    Damage("10 MB of FF behind it", whole + filler(0xff)), Damage("10 MB of zeros before it", filler(0) + whole),
    Damage("10 MB of zeros before its end", open + filler(0) + eoi), Damage("no end, 10 MB of noise", open + noise),
    Damage("a thousand pictures behind it", whole + many(whole, 1000)),
    Damage("a hundred APP segments of 64 kB", soi + many(segment, 100) + Array(whole.dropFirst(2))),
    Damage("progressive", progressive), Damage("grey", plain(160, 96, components: 1)),
    Damage("4:4:4", plain(160, 96, components: 3)),
  ]

  private static let shortCodes: [Damage] = (0..<16).map { (length: Int) -> Damage in
    Damage("codes of \(length + 1) bits are missing", patched(0xc4, 5 + length, 0))
  }

  private static let otherSymbols: [Damage] = (0..<40).map { (number: Int) -> Damage in
    var bytes = whole
    let start = position(0xc4, bytes) + 21
    var random = SeededGenerator(seed: UInt64(number))
    for index in start..<start + 160 { bytes[index] = .random(in: 0...255, using: &random) }
    return Damage("other symbols \(number)", bytes)
  }

  /// What comes of them is not ours to say, as long as it is one of the two.
  private static let either: [Damage] =
    shortCodes + otherSymbols + [
      Damage("Huffman tables for one another", patched(0xc4, 4, 0x10)), Damage("table 3", patched(0xc4, 4, 3)),
      Damage("arithmetic", patched(0xc0, 1, 0xc9)),
      Damage("arithmetic, progressive", patched(0xc2, 1, 0xca, progressive)),
      Damage("progressive by name alone", patched(0xc0, 1, 0xc2)), Damage("quantized by zeros", zeroTables()),
      Damage("without quantization tables", without(0xdb)), Damage("500 scans", scans(500)),
    ]

  private final class Stream {
    private var converter: FrameConverter
    var fault: String? { converter.fault }
    var size: (width: Int, height: Int) { converter.size }

    init() throws { converter = try FrameConverter(format: .mjpeg, width: 160, height: 96, stride: 0) }

    func callAsFunction(_ bytes: [UInt8]) -> VideoFrame? {
      bytes.withUnsafeBytes { converter.convert($0, captureTime: .zero, sequence: 0) }
    }
  }

  /// 160 × 96 again, or nil.
  private func show(_ stream: Stream, _ bytes: [UInt8]) -> VideoFrame? {
    let frame = stream(bytes)
    #expect((frame == nil) == (stream.fault != nil))
    #expect(frame.map { $0.width == 160 && $0.height == 96 } ?? true)
    return frame
  }

  @Test(arguments: cuts + unusual + shown + either) func theStreamGoesOn(_ damage: Damage) throws {
    let stream = try Stream()
    let reference = try #require(stream(Self.whole))
    let isShown = Self.shown.contains { $0.name == damage.name }
    let isEither = Self.either.contains { $0.name == damage.name }
    for _ in 0..<3 {
      let frame = show(stream, damage.bytes)
      if !isEither {
        #expect((frame != nil) == isShown, "\(damage.name): \(stream.fault ?? "shown")")
        if let fault = damage.fault {
          #expect(stream.fault?.contains(fault) == true || fault.isEmpty, "\(stream.fault ?? "")")
        }
      }
      let next = try #require(stream(Self.whole), "\(damage.name): \(stream.fault ?? "")")
      #expect(
        (0..<96).allSatisfy { memcmp(next.y + $0 * next.strideY, reference.y + $0 * reference.strideY, 160) == 0 })
    }
    // Pictures of another size are believed after three in a row, but not of any size.
    for _ in 0..<4 { _ = stream(damage.bytes) }
    #expect(stream.size.width * stream.size.height <= 160 * 96)
  }

  // MARK: Making damage

  private static let soi: [UInt8] = [0xff, 0xd8]
  private static let eoi: [UInt8] = [0xff, 0xd9]
  /// Without its EOI.
  private static let open = Array(whole.dropLast(2))

  private static func many(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
    Array(Array(repeating: bytes, count: count).joined())
  }

  private static func filler(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 10 << 20) }

  private static let segment: [UInt8] = [0xff, 0xe4, 0xff, 0xff] + [UInt8](repeating: 7, count: 65533)

  private static func position(_ marker: UInt8, _ bytes: [UInt8]) -> Int {
    bytes.indices.first { bytes[$0...].starts(with: [0xff, marker]) }!
  }

  /// The byte at this distance from a marker.
  private static func patched(_ marker: UInt8, _ offset: Int, _ byte: UInt8, _ bytes: [UInt8] = whole) -> [UInt8] {
    var result = bytes
    result[position(marker, bytes) + offset] = byte
    return result
  }

  private static func withSize(_ width: Int, _ height: Int, _ bytes: [UInt8] = whole) -> [UInt8] {
    var result = bytes
    let start = position(bytes == progressive ? 0xc2 : 0xc0, bytes) + 5
    result.replaceSubrange(start..<start + 4, with: word(height) + word(width))
    return result
  }

  private static func word(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 255)] }

  private static func range(_ marker: UInt8, _ bytes: [UInt8]) -> Range<Int> {
    let start = position(marker, bytes)
    return start..<start + 2 + Int(bytes[start + 2]) << 8 + Int(bytes[start + 3])
  }

  private static func without(_ marker: UInt8) -> [UInt8] {
    var result = whole
    while result.indices.contains(where: { result[$0...].starts(with: [0xff, marker]) }) {
      result.removeSubrange(range(marker, result))
    }
    return result
  }

  private static func twice(_ marker: UInt8) -> [UInt8] {
    let range = range(marker, whole)
    return Array(whole[..<range.upperBound]) + Array(whole[range.lowerBound...])
  }

  private static func zeroTables() -> [UInt8] {
    var result = whole
    let range = range(0xdb, whole)
    for index in range.lowerBound + 5..<range.upperBound { result[index] = 0 }
    return result
  }

  /// A picture of one colour by ITU-T T.81 annex B, with the tables of annex K.3: each block is a DC difference of 0 and EOB.
  ///
  /// - Parameter blocks: nil: as many as it has.
  private static func plain(_ width: Int, _ height: Int, components: Int = 3, blocks: Int? = nil) -> [UInt8] {
    var bytes: [UInt8] = [0xff, 0xd8, 0xff, 0xdb, 0, 67, 0]
    bytes += [UInt8](repeating: 1, count: 64)
    bytes += [0xff, 0xc0]
    bytes += word(8 + 3 * components)
    bytes += [8]
    bytes += word(height)
    bytes += word(width)
    bytes.append(UInt8(components))
    for number in 1...components { bytes += [UInt8(number), 0x11, 0] }
    bytes += [0xff, 0xda]
    bytes += word(6 + 2 * components)
    bytes.append(UInt8(components))
    for number in 1...components { bytes += [UInt8(number), 0] }
    bytes += [0, 63, 0]
    // 00 1010: four blocks are three bytes.
    let count = blocks ?? (width / 8) * (height / 8) * components
    for _ in 0..<(count + 3) / 4 { bytes += [0x28, 0xa2, 0x8a] }
    return bytes + [0xff, 0xd9]
  }

  /// A progressive picture whose last scan comes again and again.
  private static func scans(_ count: Int) -> [UInt8] {
    let starts = progressive.indices.filter { progressive[$0...].starts(with: [0xff, 0xda]) }
    let end = progressive.count - 2
    let last = progressive[starts[starts.count - 1]..<end]
    return Array(progressive[..<end]) + many(Array(last), count - starts.count) + eoi
  }
}
