import Frames
import Picture
import Wire

/// What several suites of this target need.
enum CodecTesting {
  static let unixBase: Int64 = 1_763_700_000_000_000_000
  static let interval: Int64 = 33_333_333

  static func time(_ frame: Int) -> Instant { Instant(nanoseconds: 5_000_000_000 + Int64(frame) * interval) }
  static func unix(_ frame: Int) -> Int64 { unixBase + Int64(frame) * interval }

  static func frames(_ picture: TestPicture, _ range: Range<Int>) -> [VideoFrame] {
    range.map { picture.draw(captureTime: time($0), sequence: UInt64($0), unixNanoseconds: unix($0)) }
  }

  /// Mean squared error of the luma planes.
  static func meanSquaredError(_ a: VideoFrame, _ b: VideoFrame) -> Double {
    meanSquaredError(a.y, a.strideY, b.y, b.strideY, width: a.width, height: a.height)
  }

  static func chromaError(_ a: VideoFrame, _ b: VideoFrame) -> Double {
    let size = (width: a.width / 2, height: a.height / 2)
    return max(
      meanSquaredError(a.u, a.strideUV, b.u, b.strideUV, width: size.width, height: size.height),
      meanSquaredError(a.v, a.strideUV, b.v, b.strideUV, width: size.width, height: size.height))
  }

  private static func meanSquaredError(
    _ a: UnsafePointer<UInt8>, _ strideA: Int, _ b: UnsafePointer<UInt8>, _ strideB: Int, width: Int, height: Int
  ) -> Double {
    var sum = 0
    for row in 0..<height {
      for column in 0..<width {
        let difference = Int(a[row * strideA + column]) - Int(b[row * strideB + column])
        sum += difference * difference
      }
    }
    return Double(sum) / Double(width * height)
  }
}
