internal import Glibc

extension VideoFrame {
  /// Whether every pixel is the same. With the noise of a sensor the first rows tell.
  public func hasSamePicture(as other: VideoFrame) -> Bool {
    guard width == other.width, height == other.height else { return false }
    return Self.isSame(y, other.y, stride: (strideY, other.strideY), width, height)
      && Self.isSame(u, other.u, stride: (strideUV, other.strideUV), width / 2, height / 2)
      && Self.isSame(v, other.v, stride: (strideUV, other.strideUV), width / 2, height / 2)
  }

  /// Every pixel has the same luma, and that is black: cameras that cut off the noise deliver it in a dark room.
  public var isBlack: Bool {
    let first = y[0]
    guard first <= Self.brightestBlack else { return false }
    return (0..<height).allSatisfy { row in
      let line = UnsafeBufferPointer(start: y + row * strideY, count: width)
      return line.allSatisfy { $0 == first }
    }
  }

  /// Black is 16 in the limited range of ITU-R BT.601, and a sensor's black level may lie a little above.
  private static let brightestBlack: UInt8 = 24

  private static func isSame(
    _ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, stride: (Int, Int), _ width: Int, _ height: Int
  ) -> Bool {
    (0..<height).allSatisfy { memcmp(one + $0 * stride.0, other + $0 * stride.1, width) == 0 }
  }
}
