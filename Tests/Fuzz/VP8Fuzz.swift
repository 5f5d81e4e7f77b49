import Codecs
import Frames
import Picture
import Wire

/// VP8 frames from a peer: a key frame, then whatever comes, then a key frame again if that was refused.
enum VP8Fuzz: FuzzBody {
  static let name = "VP8"
  private static let (width, height) = (64, 48)

  static let whole: [[UInt8]] = {
    let picture = TestPicture(width: width, height: height)
    guard let encoder = try? VP8Encoder(configuration: .init(width: width, height: height, bitrateKbps: 200)) else {
      return []
    }
    return (0..<20).compactMap { index in
      let time = Instant(nanoseconds: Int64(index) * 33_000_000)
      return try? encoder.encode(
        picture.draw(captureTime: time, sequence: UInt64(index), unixNanoseconds: time.nanoseconds))?.data
    }
  }()

  static var seeds: [[UInt8]] { whole }

  private static let decoder = SharedSubject<VP8Decoder>()

  static func run(_ input: [UInt8]) {
    guard let key = whole.first else { return }
    decoder.use(make: { started(with: key) }) { decoder in
      let picture = try? decoder.decode(input)
      // Most of what is changed makes a wrong picture, from which the next input goes on.
      if picture?.width == width, InputRow.length > 1 { return }
      precondition((try? decoder.decode(key)) != nil, "a key frame mends everything")
    }
  }

  private static func started(with key: [UInt8]) -> VP8Decoder {
    do {
      let decoder = try VP8Decoder(maximumPixels: 640 * 480)
      _ = try decoder.decode(key)
      return decoder
    } catch {
      preconditionFailure("\(error)")
    }
  }
}
