import Wire

/// Splits encoded VP8 frames into RTP payloads: once per frame, for all viewers. RFC 7741 section 4.
public struct VP8Packetizer: Sendable {
  /// The long descriptor with PictureID, TL0PICIDX and TID, which all our payloads have.
  public static let descriptorByteCount = 6

  /// 15 bits, incremented with each frame.
  private var nextPictureID: UInt16
  /// Of the last base-layer frame.
  private var tl0PictureIndex: UInt8

  /// Both counters may start anywhere; pass random numbers. `pictureID` is the first frame's, `tl0PictureIndex` the
  /// first base-layer frame's.
  public init(pictureID: UInt16 = 0, tl0PictureIndex: UInt8 = 0) {
    nextPictureID = pictureID & 0x7fff
    self.tl0PictureIndex = tl0PictureIndex &- 1
  }

  /// Splits one frame into payloads of at most `maximumPayloadSize` bytes (descriptor included; less than 16 counts as
  /// 16). All have the same size, except that the last may be a little shorter, so that the kernel can segment them
  /// (UDP_SEGMENT, udp(7)). The last one is sent with the marker bit. Empty for an empty frame.
  ///
  /// - Parameters:
  ///   - temporalLayer: 0...3, as the encoder's pattern says. A key frame is always of layer 0.
  ///   - isLayerSync: the frame depends on the base layer alone.
  ///   - isDiscardable: no later frame depends on this one.
  public mutating func packetize(
    _ frame: [UInt8], isKeyFrame: Bool, temporalLayer: Int = 0, isLayerSync: Bool = false, isDiscardable: Bool = false,
    maximumPayloadSize: Int
  ) -> [[UInt8]] {
    guard !frame.isEmpty else { return [] }
    let layer = isKeyFrame ? 0 : UInt8(min(max(temporalLayer, 0), 3))
    if layer == 0 { tl0PictureIndex &+= 1 }
    var descriptor = VP8PayloadDescriptor(
      isNonReference: isDiscardable, pictureID: .long(nextPictureID), tl0PictureIndex: tl0PictureIndex,
      temporalLayer: .init(index: layer, isSync: isLayerSync && layer > 0))
    nextPictureID = (nextPictureID &+ 1) & 0x7fff

    let room = max(maximumPayloadSize, 16) - Self.descriptorByteCount
    let count = (frame.count + room - 1) / room
    let size = (frame.count + count - 1) / count
    var payloads: [[UInt8]] = []
    payloads.reserveCapacity(count)
    var start = 0
    while start < frame.count {
      let end = min(start + size, frame.count)
      var writer = ByteWriter(reservingCapacity: Self.descriptorByteCount + end - start)
      descriptor.write(to: &writer)
      writer.write(contentsOf: frame[start..<end])
      payloads.append(writer.bytes)
      // Only the first packet starts a partition; the starts of the others are not signalled.
      descriptor.startsPartition = false
      start = end
    }
    return payloads
  }

  /// PictureID and TL0PICIDX of a payload at `offset`; nil if it has not both, with a PictureID of 15 bits.
  public static func counters(
    in packet: [UInt8], payloadOffset offset: Int = 0
  ) -> (pictureID: UInt16, tl0PictureIndex: UInt8)? {
    guard hasLongPictureID(packet, offset), packet[offset + 1] & 0x40 != 0, packet.count >= offset + 5 else {
      return nil
    }
    return (UInt16(packet[offset + 2] & 0x7f) << 8 | UInt16(packet[offset + 3]), packet[offset + 4])
  }

  /// Lowers the counters of the payload at `offset`, for a viewer that was not sent the frames in between, or that gets
  /// frames of more than one encoder: a receiver treats a gap as loss. Payloads without a 15-bit PictureID are
  /// unchanged.
  public static func lowerCounters(by offsets: VP8CounterOffset, in packet: inout [UInt8], payloadOffset offset: Int) {
    guard hasLongPictureID(packet, offset) else { return }
    let value = UInt16(packet[offset + 2] & 0x7f) << 8 | UInt16(packet[offset + 3])
    let lowered = (value &- offsets.pictureID) | 0x8000
    packet[offset + 2] = UInt8(truncatingIfNeeded: lowered >> 8)
    packet[offset + 3] = UInt8(truncatingIfNeeded: lowered)
    guard packet[offset + 1] & 0x40 != 0, packet.count >= offset + 5 else { return }
    packet[offset + 4] &-= offsets.tl0PictureIndex
  }

  private static func hasLongPictureID(_ packet: [UInt8], _ offset: Int) -> Bool {
    packet.count >= offset + 4 && packet[offset] & 0x80 != 0 && packet[offset + 1] & 0x80 != 0
      && packet[offset + 2] & 0x80 != 0
  }
}

/// By how much one viewer's counters are behind those of the encoder, RFC 7741 section 4.2.
public struct VP8CounterOffset: Hashable, Sendable {
  /// Modulo 2^15.
  public var pictureID: UInt16
  public var tl0PictureIndex: UInt8

  public init(pictureID: UInt16 = 0, tl0PictureIndex: UInt8 = 0) {
    self.pictureID = pictureID
    self.tl0PictureIndex = tl0PictureIndex
  }
}
