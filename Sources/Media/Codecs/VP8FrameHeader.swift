/// The uncompressed start of a VP8 frame. RFC 6386 section 9.1.
public struct VP8FrameHeader: Hashable, Sendable {
  public let isKeyFrame: Bool
  /// False for frames that only serve as a reference.
  public let isShown: Bool
  /// Only key frames carry a size; either number may be 0 in a malformed one.
  public let keyFrameSize: PictureSize?

  /// Nil if there are too few bytes or a key frame lacks its start code.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count >= 3 else { return nil }
    isKeyFrame = bytes[0] & 1 == 0
    isShown = bytes[0] & 0x10 != 0
    guard isKeyFrame else {
      keyFrameSize = nil
      return
    }
    guard bytes.count >= 10, bytes[3] == 0x9d, bytes[4] == 0x01, bytes[5] == 0x2a else { return nil }
    // 14 bits of size, 2 of upscaling, which nobody uses; little-endian.
    keyFrameSize = PictureSize(
      width: Int(bytes[6]) | Int(bytes[7] & 0x3f) << 8, height: Int(bytes[8]) | Int(bytes[9] & 0x3f) << 8)
  }
}
