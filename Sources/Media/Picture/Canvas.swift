public import Frames
internal import Glibc

/// A colour as the frame stores it: BT.601, limited range.
public struct YUVColour: Hashable, Sendable {
  public var y: UInt8
  public var u: UInt8
  public var v: UInt8

  public init(y: UInt8, u: UInt8 = 128, v: UInt8 = 128) {
    self.y = y
    self.u = u
    self.v = v
  }

  public static let white = YUVColour(y: 235)
  public static let black = YUVColour(y: 16)
}

/// Draws rectangles into a frame that is not shared yet, clipped to the picture.
public struct Canvas {
  public let frame: VideoFrame

  public init(_ frame: VideoFrame) {
    self.frame = frame
  }

  /// Fills the rectangle with one colour. Chroma is 2×2 subsampled, so at an odd edge it extends one pixel further.
  public func fill(x: Int, y: Int, width: Int, height: Int, _ colour: YUVColour) {
    guard let (columns, rows) = clip(x: x, y: y, width: width, height: height) else { return }
    fillLuma(columns: columns, rows: rows, colour.y)
    let left = columns.lowerBound / 2
    let count = (columns.upperBound + 1) / 2 - left
    for row in rows.lowerBound / 2..<(rows.upperBound + 1) / 2 {
      let offset = row * frame.strideUV + left
      memset(frame.mutableU + offset, Int32(colour.u), count)
      memset(frame.mutableV + offset, Int32(colour.v), count)
    }
  }

  /// Fills only the luma of the rectangle.
  public func fillLuma(x: Int, y: Int, width: Int, height: Int, _ luma: UInt8) {
    guard let (columns, rows) = clip(x: x, y: y, width: width, height: height) else { return }
    fillLuma(columns: columns, rows: rows, luma)
  }

  /// Fills the whole picture.
  public func clear(_ colour: YUVColour) {
    fill(x: 0, y: 0, width: frame.width, height: frame.height, colour)
  }

  private func fillLuma(columns: Range<Int>, rows: Range<Int>, _ luma: UInt8) {
    for row in rows {
      memset(frame.mutableY + row * frame.strideY + columns.lowerBound, Int32(luma), columns.count)
    }
  }

  private func clip(x: Int, y: Int, width: Int, height: Int) -> (columns: Range<Int>, rows: Range<Int>)? {
    let columns = (x..<x + max(0, width)).clamped(to: 0..<frame.width)
    let rows = (y..<y + max(0, height)).clamped(to: 0..<frame.height)
    return columns.isEmpty || rows.isEmpty ? nil : (columns, rows)
  }
}
