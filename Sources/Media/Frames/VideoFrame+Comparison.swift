internal import Glibc

extension VideoFrame {
  /// Whether every pixel is the same. With the noise of a sensor the first rows tell.
  public func hasSamePicture(as other: VideoFrame) -> Bool {
    guard width == other.width, height == other.height else { return false }
    return Self.isSame(y, other.y, stride: (strideY, other.strideY), width, height)
      && Self.isSame(u, other.u, stride: (strideUV, other.strideUV), width / 2, height / 2)
      && Self.isSame(v, other.v, stride: (strideUV, other.strideUV), width / 2, height / 2)
  }

  private static func isSame(
    _ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, stride: (Int, Int), _ width: Int, _ height: Int
  ) -> Bool {
    (0..<height).allSatisfy { memcmp(one + $0 * stride.0, other + $0 * stride.1, width) == 0 }
  }
}
