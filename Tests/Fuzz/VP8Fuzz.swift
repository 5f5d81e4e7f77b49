import Codecs
import Frames
import Picture
import Wire

/// VP8 frames from a peer: a key frame, then whatever comes.
enum VP8Fuzz: FuzzBody {
  static let name = "VP8"
  static let whole: [[UInt8]] = {
    let picture = TestPicture(width: 96, height: 64)
    guard let encoder = try? VP8Encoder(configuration: .init(width: 96, height: 64, bitrateKbps: 200)) else {
      return []
    }
    return (0..<20).compactMap { index in
      let time = Instant(nanoseconds: Int64(index) * 33_000_000)
      return try? encoder.encode(
        picture.draw(captureTime: time, sequence: UInt64(index), unixNanoseconds: time.nanoseconds))?.data
    }
  }()

  static var seeds: [[UInt8]] { whole }

  static func run(_ input: [UInt8]) {
    guard let key = whole.first, let decoder = try? VP8Decoder(mostPixels: 640 * 480) else { return }
    _ = try? decoder.decode(key)
    _ = try? decoder.decode(input)
    _ = try? decoder.decode(key)
  }
}
