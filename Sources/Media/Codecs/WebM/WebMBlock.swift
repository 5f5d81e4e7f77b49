internal import Wire

/// One frame on its way into a recording.
struct WebMBlock: Sendable {
  enum Content: Sendable {
    case video(VP8FrameHeader)
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
