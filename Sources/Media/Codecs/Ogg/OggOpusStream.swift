public import Frames

/// An Ogg Opus stream from the middle of a live sound: packets in, pages out, for one listener. Pure. RFC 7845.
public struct OggOpusStream: Sendable {
  /// A page for 100 ms: its header adds 5 % to the packets then, and what waits for it is hardly late.
  static let packetsPerPage = 5
  /// What a decoder needs to adapt to a stream that does not begin with its first packet, in samples. Section 4.2.
  static let preSkip: UInt16 = 3840
  private static let vendor = "Cradle"

  private let serial: UInt32
  private var sequence: UInt32 = 0
  private var packets: [[UInt8]] = []
  /// `samplePosition` of the first packet.
  private var begin: UInt64?
  /// Of the end of the last one.
  private var end: UInt64 = 0

  /// - Parameter serial: distinguishes it from others (RFC 3533 section 4).
  public init(serial: UInt32) {
    self.serial = serial
  }

  /// The identification header and the comment header, a page each. Section 5.
  ///
  /// - Parameter title: what players show, such as the room's name.
  public mutating func makeHeaders(title: String) -> [UInt8] {
    var head = Array("OpusHead".utf8) + [1, 1]
    head += [UInt8(truncatingIfNeeded: Self.preSkip), UInt8(truncatingIfNeeded: Self.preSkip >> 8)]
    // No gain, one channel.
    head += OggPage.littleEndian(UInt32(AudioFormat.sampleRate)) + [0, 0, 0]
    let comment = Array("TITLE=\(title)".utf8.prefix(255))
    let tags =
      Array("OpusTags".utf8) + OggPage.littleEndian(UInt32(Self.vendor.utf8.count)) + Array(Self.vendor.utf8)
      + OggPage.littleEndian(1) + OggPage.littleEndian(UInt32(comment.count)) + comment
    return page([head], granulePosition: 0, flags: OggPage.beginning) + page([tags], granulePosition: 0)
  }

  /// Adds a packet of one block.
  ///
  /// - Returns: the pages that are complete now, or nothing.
  public mutating func add(_ packet: EncodedAudioPacket) -> [UInt8] {
    let begin = self.begin ?? packet.samplePosition
    if self.begin == nil { (self.begin, end) = (begin, begin) }
    // What went before the packets of a page has no place of its own in time, so a gap is between pages.
    var pages = packet.samplePosition > end ? flush() : []
    guard packet.samplePosition >= end else { return pages }
    packets.append(packet.data)
    end = packet.samplePosition + UInt64(AudioFormat.samplesPerBlock)
    if packets.count == Self.packetsPerPage { pages += flush() }
    return pages
  }

  private mutating func flush() -> [UInt8] {
    guard !packets.isEmpty, let begin else { return [] }
    defer { packets = [] }
    return page(packets, granulePosition: end - begin)
  }

  private mutating func page(_ packets: [[UInt8]], granulePosition: UInt64, flags: UInt8 = 0) -> [UInt8] {
    defer { sequence &+= 1 }
    return OggPage.make(
      packets, granulePosition: granulePosition, serial: serial, sequence: sequence, flags: flags)
  }
}
