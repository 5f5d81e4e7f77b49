internal import Frames
internal import Wire

/// One frame on its way into a recording.
struct WebMBlock: Sendable {
  enum Content: Sendable {
    /// `size` for a key frame.
    case video(VP8FrameTag)
    /// Its duration in nanoseconds.
    case audio(nanoseconds: Int64)
  }

  var content: Content
  var time: Instant
  var data: [UInt8]

  var isVideo: Bool {
    if case .video = content { true } else { false }
  }
}

/// The first bytes of a VP8 frame. RFC 6386 section 9.1.
struct VP8FrameTag: Hashable, Sendable {
  /// The size of a key frame; nil for any other.
  var keyFrameSize: PictureSize?
  /// False for frames that only serve as a reference.
  var isShown: Bool

  /// Nil if it is not a VP8 frame.
  init?(_ frame: [UInt8]) {
    guard frame.count >= 3 else { return nil }
    isShown = frame[0] & 0x10 != 0
    guard frame[0] & 1 == 0 else { return }
    guard frame.count >= 10, frame[3] == 0x9d, frame[4] == 0x01, frame[5] == 0x2a else { return nil }
    // The upper two bits of each are the upscaling factor, which nobody uses.
    let size = PictureSize(
      width: Int(frame[6]) | Int(frame[7] & 0x3f) << 8, height: Int(frame[8]) | Int(frame[9] & 0x3f) << 8)
    guard size.area > 0 else { return nil }
    keyFrameSize = size
  }
}

/// The duration of an Opus packet. RFC 6716 section 3.1.
enum OpusDuration {
  /// Nil if it is not an Opus packet.
  static func nanoseconds(of packet: [UInt8]) -> Int64? {
    guard let first = packet.first else { return nil }
    let configuration = Int(first >> 3)
    let frameMicroseconds =
      switch configuration {
      case ..<12: [10_000, 20_000, 40_000, 60_000][configuration & 3]
      case ..<16: [10_000, 20_000][configuration & 1]
      default: [2_500, 5_000, 10_000, 20_000][configuration & 3]
      }
    let frames: Int
    switch first & 3 {
    case 0: frames = 1
    case 1, 2: frames = 2
    default:
      guard packet.count >= 2 else { return nil }
      frames = Int(packet[1] & 0x3f)
    }
    let total = frames * frameMicroseconds
    return 1...120_000 ~= total ? Int64(total) * 1000 : nil
  }
}
