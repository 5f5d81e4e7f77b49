import Frames
import Testing
import Wire

@testable import Codecs

@Suite struct OggOpusTests {
  private struct Page {
    var flags: UInt8
    var granule: UInt64
    var sequence: UInt32
    var packets: [[UInt8]]
  }

  /// Pages by RFC 3533 section 6, with their checksums verified bit by bit.
  private func pages(_ bytes: [UInt8]) throws -> [Page] {
    var pages: [Page] = []
    var rest = bytes[...]
    func number(_ from: Int, _ count: Int) -> UInt64 {
      (0..<count).reversed().reduce(0) { $0 << 8 | UInt64(rest[rest.startIndex + from + $1]) }
    }
    while !rest.isEmpty {
      try #require(rest.prefix(5) == [0x4f, 0x67, 0x67, 0x53, 0])
      let segments = rest.dropFirst(27).prefix(Int(rest[rest.startIndex + 26])).map(Int.init)
      let length = 27 + segments.count + segments.reduce(0, +)
      var page = Array(rest.prefix(length))
      page.replaceSubrange(22..<26, with: [0, 0, 0, 0])
      var crc: UInt32 = 0
      for byte in page {
        crc ^= UInt32(byte) << 24
        for _ in 0..<8 { crc = crc & 0x8000_0000 == 0 ? crc << 1 : crc << 1 ^ 0x04c1_1db7 }
      }
      #expect(number(22, 4) == UInt64(crc))
      var packets: [[UInt8]] = [[]]
      var body = page[(27 + segments.count)...]
      for segment in segments {
        packets[packets.count - 1] += body.prefix(segment)
        body = body.dropFirst(segment)
        if segment < 255 { packets.append([]) }
      }
      pages.append(
        Page(
          flags: page[5], granule: number(6, 8), sequence: UInt32(number(18, 4)), packets: Array(packets.dropLast())))
      rest = rest.dropFirst(length)
    }
    return pages
  }

  private func packet(_ position: UInt64, bytes: Int = 100) -> EncodedAudioPacket {
    EncodedAudioPacket(
      data: Array(repeating: 7, count: bytes), captureTime: Instant(nanoseconds: 0), samplePosition: position)
  }

  @Test func aListenerInTheMiddleGetsAStreamFromItsOwnBeginning() throws {
    var stream = OggOpusStream(serial: 9)
    var bytes = stream.makeHeaders(title: "Nursery")
    let first: UInt64 = 48_000 * 3600
    for number in 0..<10 { bytes += stream.add(packet(first + UInt64(number) * 960, bytes: number == 4 ? 510 : 100)) }
    let pages = try pages(bytes)
    #expect(pages.map(\.sequence) == [0, 1, 2, 3] && pages.map(\.flags) == [2, 0, 0, 0])
    #expect(pages.map(\.granule) == [0, 0, 4800, 9600])
    // RFC 7845 section 5.1: version 1, one channel, 80 ms that are skipped, 48 kHz, no gain, family 0.
    #expect(
      pages[0].packets == [Array("OpusHead".utf8) + [1, 1, 0x00, 0x0f, 0x80, 0xbb, 0, 0, 0, 0, 0]])
    #expect(pages[1].packets[0].starts(with: Array("OpusTags".utf8)) && pages[1].packets.count == 1)
    #expect(String(decoding: pages[1].packets[0], as: UTF8.self).hasSuffix("TITLE=Nursery"))
    #expect(pages[2].packets.map(\.count) == [100, 100, 100, 100, 510])
  }

  @Test func whatIsMissingIsMissingBetweenPages() throws {
    var stream = OggOpusStream(serial: 9)
    var bytes = stream.add(packet(960)) + stream.add(packet(1920))
    for number in 0..<5 { bytes += stream.add(packet(48_000 + UInt64(number) * 960)) }
    // One that comes twice is dropped.
    bytes += stream.add(packet(48_000))
    let pages = try pages(bytes)
    #expect(pages.map(\.packets.count) == [2, 5])
    let granules: [UInt64] = [1920, 51_840]
    #expect(pages.map(\.granule) == granules)
  }
}
