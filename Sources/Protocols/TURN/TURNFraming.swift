internal import STUN
internal import Wire

/// ChannelData messages. RFC 8656 section 12.4.
enum ChannelData {
  static let headerLength = 4
  /// RFC 8656 section 12.
  static let numbers: ClosedRange<UInt16> = 0x4000...0x4fff
  static let maximumPayload = 0xffff

  /// - Parameter isPadded: over TCP and TLS, to a multiple of four bytes (RFC 8656 section 12.5).
  static func encode(_ payload: [UInt8], on number: UInt16, isPadded: Bool) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(headerLength + payload.count + 3)
    bytes.append(UInt8(truncatingIfNeeded: number >> 8))
    bytes.append(UInt8(truncatingIfNeeded: number))
    bytes.append(UInt8(truncatingIfNeeded: payload.count >> 8))
    bytes.append(UInt8(truncatingIfNeeded: payload.count))
    bytes.append(contentsOf: payload)
    if isPadded { while bytes.count % 4 != 0 { bytes.append(0) } }
    return bytes
  }

  /// Nil when the message is shorter than it says.
  static func decode(_ bytes: ArraySlice<UInt8>) -> (number: UInt16, payload: ArraySlice<UInt8>)? {
    var reader = ByteReader(bytes)
    guard let number = try? reader.readUInt16(), let length = try? reader.readUInt16(),
      let payload = try? reader.readBytes(Int(length))
    else { return nil }
    return (number, payload)
  }
}

/// Finds messages in a stream of bytes: those of STUN are a multiple of four bytes long, and so is ChannelData with its
/// padding. RFC 8656 section 12.5, RFC 8489 section 6.2.2. Holds at most one incomplete message, 64 KiB.
struct MessageStream: Sendable {
  private var bytes: [UInt8] = []
  /// Where the next message begins.
  private var start = 0

  mutating func append(_ piece: [UInt8]) {
    if start == bytes.count {
      bytes = piece
    } else {
      bytes.removeFirst(start)
      bytes.append(contentsOf: piece)
    }
    start = 0
  }

  /// The next whole message, ChannelData with its padding; nil until more has come.
  ///
  /// - Throws: `WireError.malformed` when neither kind begins here: the place is lost, and the stream with it.
  mutating func next() throws(WireError) -> ArraySlice<UInt8>? {
    var reader = ByteReader(bytes[start...])
    guard reader.remaining >= 4 else { return nil }
    let type = try reader.readUInt16()
    let length = Int(try reader.readUInt16())
    let total: Int
    switch type >> 14 {
    case 0:
      guard length % 4 == 0 else { throw .malformed("a STUN message of \(length) bytes") }
      total = STUNConstants.headerLength + length
    case 1: total = ChannelData.headerLength + (length + 3) / 4 * 4
    default: throw .malformed("neither STUN nor ChannelData")
    }
    guard bytes.count - start >= total else { return nil }
    defer { start += total }
    return bytes[start..<start + total]
  }
}
