/// A page of an Ogg stream. RFC 3533 section 6.
enum OggPage {
  /// The first page of a stream.
  static let beginning: UInt8 = 0x02

  /// A page of whole packets: at most 255 segments of 255 bytes.
  ///
  /// - Parameter granulePosition: of the last packet's end, in samples.
  static func make(
    _ packets: [[UInt8]], granulePosition: UInt64, serial: UInt32, sequence: UInt32, flags: UInt8 = 0
  ) -> [UInt8] {
    var segments: [UInt8] = []
    for packet in packets {
      segments += [UInt8](repeating: 255, count: packet.count / 255)
      // A packet ends with a segment of less than 255 bytes, empty if need be. Section 5.
      segments.append(UInt8(packet.count % 255))
    }
    precondition(segments.count <= 255, "a page has 255 segments at most")
    var page = Array("OggS".utf8) + [0, flags]
    page += (0..<8).map { UInt8(truncatingIfNeeded: granulePosition >> (8 * $0)) }
    page += littleEndian(serial) + littleEndian(sequence) + littleEndian(0)
    page.append(UInt8(segments.count))
    page += segments
    for packet in packets { page += packet }
    page.replaceSubrange(22..<26, with: littleEndian(checksum(page)))
    return page
  }

  static func littleEndian(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
  }

  /// CRC-32 with the polynomial 0x04c11db7, neither reflected nor inverted, of a page whose checksum is 0. Section 6.
  static func checksum(_ page: [UInt8]) -> UInt32 {
    page.reduce(0) { crc, byte in crc << 8 ^ table[Int(UInt8(truncatingIfNeeded: crc >> 24) ^ byte)] }
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index) << 24) { crc, _ in crc << 1 ^ (crc & 0x8000_0000 == 0 ? 0 : 0x04c1_1db7) }
  }
}
