public import Frames

/// TC32: the Unix time in milliseconds modulo 2^32, burned into the picture's top left corner as 32 blocks, most
/// significant bit first, with the inverse below as a check. interfaces/devices.md, "Test picture and tone".
public enum Timecode32 {
  private static let one: UInt8 = 235
  private static let zero: UInt8 = 16
  /// The minimum luma difference between a block and its inverse; as drawn they are 219 apart.
  private static let leastContrast = 48

  /// The side of a block in pixels for a picture of this width; 0 below 80 pixels, where no timecode fits.
  public static func blockSide(width: Int) -> Int {
    2 * (width / 80)
  }

  /// The timecode for a wall-clock time.
  public static func value(unixNanoseconds: Int64) -> UInt32 {
    let (quotient, rest) = unixNanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return UInt32(truncatingIfNeeded: rest < 0 ? quotient - 1 : quotient)
  }

  /// Draws `milliseconds`; does nothing in a picture that is too small.
  public static func draw(_ milliseconds: UInt32, on canvas: Canvas) {
    let side = blockSide(width: canvas.frame.width)
    guard side > 0, canvas.frame.height >= 2 * side else { return }
    for bit in 0..<32 {
      let isOne = milliseconds >> UInt32(31 - bit) & 1 == 1
      canvas.fill(x: bit * side, y: 0, width: side, height: side, YUVColour(y: isOne ? one : zero))
      canvas.fill(x: bit * side, y: side, width: side, height: side, YUVColour(y: isOne ? zero : one))
    }
  }

  /// Reads a decoded picture's timecode; nil if there is none or a block contradicts its inverse.
  public static func read(_ frame: VideoFrame) -> UInt32? {
    read(luma: frame.y, stride: frame.strideY, width: frame.width, height: frame.height)
  }

  /// Reads the timecode from a luma plane of `height` rows of `stride` bytes.
  ///
  /// `drawnWidth` is the original width of a picture that was scaled since (equally in both directions): 854 / 80 does
  /// not give the blocks of a scaled 1280 / 80.
  public static func read(
    luma: UnsafePointer<UInt8>, stride: Int, width: Int, height: Int, drawnWidth: Int? = nil
  ) -> UInt32? {
    guard width > 0, height > 0, stride >= width else { return nil }
    let drawnWidth = drawnWidth ?? width
    let side = Double(blockSide(width: drawnWidth)) * Double(width) / Double(max(1, drawnWidth))
    guard side >= 2, side * 2 <= Double(height) else { return nil }
    var value: UInt32 = 0
    for bit in 0..<32 {
      let x = Double(bit) * side
      let upper = mean(luma, stride: stride, x: x, y: 0, side: side)
      let lower = mean(luma, stride: stride, x: x, y: side, side: side)
      guard abs(upper - lower) >= leastContrast else { return nil }
      value = value << 1 | (upper > lower ? 1 : 0)
    }
    return value
  }

  /// The mean of the block's inner half, which neither scaling nor the loop filter mixes with its neighbours.
  private static func mean(_ luma: UnsafePointer<UInt8>, stride: Int, x: Double, y: Double, side: Double) -> Int {
    let inset = side / 4
    let columns = range(from: x + inset, to: x + side - inset)
    let rows = range(from: y + inset, to: y + side - inset)
    var sum = 0
    for row in rows {
      for column in columns { sum += Int(luma[row * stride + column]) }
    }
    return sum / (rows.count * columns.count)
  }

  private static func range(from start: Double, to end: Double) -> Range<Int> {
    let first = Int(start.rounded())
    return first..<max(first + 1, Int(end.rounded()))
  }
}
