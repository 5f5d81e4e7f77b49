import Codecs
import Frames
import Picture
import Wire

/// Motion JPEG as a broken camera or cable delivers it.
enum JPEGFuzz: FuzzBody {
  static let name = "JPEG"
  static let pool = VideoFramePool(width: 96, height: 64)

  static var seeds: [[UInt8]] {
    let frame = TestPicture(width: 96, height: 64).draw(captureTime: .zero, sequence: 1, unixNanoseconds: 0)
    guard let encoder = try? JPEGEncoder() else { return [] }
    return [30, 90].compactMap { try? encoder.encode(frame, quality: $0) }
  }

  static func run(_ input: [UInt8]) {
    guard let decoder = try? JPEGDecoder() else { return }
    for _ in 0..<2 {
      _ = try? input.withUnsafeBytes { try decoder.decode($0, pool: pool, captureTime: .zero, sequence: 0) }
    }
  }
}
