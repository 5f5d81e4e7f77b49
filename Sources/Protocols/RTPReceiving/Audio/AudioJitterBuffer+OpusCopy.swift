import RTP

extension OpusPacketInfo {
  /// Samples at 48 kHz of the preceding packet that `packet`, from which `self` was parsed, carries as an LBRR copy:
  /// the length of its first frame, or 0. The LBRR flag of that frame tells, right after the VAD flags of its 20 ms
  /// SILK frames. RFC 6716 sections 4.2.3 and 4.2.4. For stereo, the flags of the side channel follow those of the mid
  /// channel.
  func copiedSamples(in packet: [UInt8]) -> Int {
    // CELT frames carry no copy. RFC 6716 table 2.
    guard let toc = packet.first, toc >> 3 < 16, let offset = Self.firstFrameOffset(in: packet), offset < packet.count
    else { return 0 }
    // The flags are coded with probability 1/2 at the start of the range coder, so they appear as plain bits. Section
    // 4.1.
    let flags = packet[offset]
    let silkFrames = max(1, frameMicroseconds / 20_000)
    let middle = flags >> UInt8(7 - silkFrames) & 1
    let side = isStereo ? flags >> UInt8(6 - 2 * silkFrames) & 1 : 0
    return middle | side != 0 ? frameMicroseconds * 48 / 1000 : 0
  }

  /// Offset of the first frame; nil if the packet is too short. RFC 6716 section 3.2.
  private static func firstFrameOffset(in packet: [UInt8]) -> Int? {
    switch packet[0] & 3 {
    case 0, 1: return 1
    case 2: return lengthBytes(in: packet, at: 1).map { 1 + $0 }
    default: break
    }
    guard packet.count >= 2 else { return nil }
    var offset = 2
    let count = Int(packet[1] & 0x3f)
    if packet[1] & 0x40 != 0 {
      // The padding length bytes; the padding itself is at the end. Section 3.2.5.
      while offset < packet.count, packet[offset] == 255 { offset += 1 }
      offset += 1
    }
    if packet[1] & 0x80 != 0 {
      for _ in 0..<max(0, count - 1) {
        guard let bytes = lengthBytes(in: packet, at: offset) else { return nil }
        offset += bytes
      }
    }
    return offset
  }

  /// How many bytes a frame length takes. Section 3.2.1.
  private static func lengthBytes(in packet: [UInt8], at offset: Int) -> Int? {
    guard offset < packet.count else { return nil }
    return packet[offset] >= 252 ? 2 : 1
  }
}
