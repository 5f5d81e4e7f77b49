public import Frames
internal import Glibc
public import Wire

/// The picture of `device: test`: a panning textured plane, a bouncing square, the wall clock as text and the timecode
/// TC32. interfaces/devices.md, "Test picture and tone". The same sequence number and time give the same picture everywhere.
public struct TestPicture: Sendable {
  /// Pixels, even.
  public let width: Int
  public let height: Int
  private let texture: TestTexture
  private let pool: VideoFramePool

  /// Pixels per frame; even, so that chroma moves by whole samples.
  private static let panX = 2
  private static let squareX = 6
  private static let squareY = 4

  /// Sizes are rounded up to even numbers. The initializer takes tens of milliseconds; drawing does not.
  public init(width: Int, height: Int) {
    pool = VideoFramePool(width: width, height: height)
    self.width = pool.width
    self.height = pool.height
    texture = TestTexture(width: pool.width)
  }

  /// The picture for frame `sequence`, stamped with `unixNanoseconds`, the wall clock at `captureTime`.
  public func draw(captureTime: Instant, sequence: UInt64, unixNanoseconds: Int64) -> VideoFrame {
    let frame = pool.makeFrame(captureTime: captureTime, sequence: sequence)
    draw(into: frame, unixNanoseconds: unixNanoseconds)
    return frame
  }

  /// Draws over a whole frame of this size that is not shared yet; its sequence number determines all motion.
  public func draw(into frame: VideoFrame, unixNanoseconds: Int64) {
    precondition(frame.width == width && frame.height == height, "the texture was made for one size")
    let step = Int(truncatingIfNeeded: frame.sequence & 0xffff_ffff)
    drawTexture(into: frame, offset: step * Self.panX % TestTexture.period)
    let canvas = Canvas(frame)
    drawSquare(on: canvas, step: step)
    drawClock(on: canvas, unixNanoseconds: unixNanoseconds)
    Timecode32.draw(Timecode32.value(unixNanoseconds: unixNanoseconds), on: canvas)
  }

  private func drawTexture(into frame: VideoFrame, offset: Int) {
    texture.luma.withUnsafeBufferPointer { source in
      for y in 0..<height {
        let row = source.baseAddress! + y % TestTexture.period * texture.lumaStride + offset
        memcpy(frame.mutableY + y * frame.strideY, row, width)
      }
    }
    copyChroma(texture.u, to: frame.mutableU, stride: frame.strideUV, offset: offset / 2)
    copyChroma(texture.v, to: frame.mutableV, stride: frame.strideUV, offset: offset / 2)
  }

  private func copyChroma(_ plane: [UInt8], to target: UnsafeMutablePointer<UInt8>, stride: Int, offset: Int) {
    plane.withUnsafeBufferPointer { source in
      for y in 0..<height / 2 {
        let row = source.baseAddress! + y % (TestTexture.period / 2) * texture.chromaStride + offset
        memcpy(target + y * stride, row, width / 2)
      }
    }
  }

  /// A yellow square with a dark rim; it stays below the timecode.
  private func drawSquare(on canvas: Canvas, step: Int) {
    let side = max(4, min(width, height) / 6 & ~1)
    let top = 2 * Timecode32.blockSide(width: width)
    let x = Self.bounce(step * Self.squareX, within: width - side) & ~1
    let y = top + Self.bounce(step * Self.squareY, within: height - top - side) & ~1
    let rim = max(2, side / 10 & ~1)
    canvas.fill(x: x, y: y, width: side, height: side, YUVColour(y: 40, u: 110, v: 140))
    canvas.fill(
      x: x + rim, y: y + rim, width: side - 2 * rim, height: side - 2 * rim, YUVColour(y: 200, u: 40, v: 150))
  }

  private func drawClock(on canvas: Canvas, unixNanoseconds: Int64) {
    let text = WallClockText.timeWithMilliseconds(
      unixNanoseconds: unixNanoseconds,
      utcOffsetSeconds: WallClockText.localUTCOffsetSeconds(unixNanoseconds: unixNanoseconds))
    let renderer = TextRenderer(scale: max(1, width / 256))
    let margin = renderer.scale * 2
    let textWidth = renderer.width(of: text)
    let x = max(0, (width - textWidth) / 2) & ~1
    let y = max(0, height - renderer.lineHeight - 4 * margin) & ~1
    canvas.fill(
      x: x - margin, y: y - margin, width: textWidth + 2 * margin, height: renderer.lineHeight + margin, .black)
    renderer.draw(text, x: x, y: y, luma: YUVColour.white.y, on: canvas)
  }

  /// Moves back and forth between 0 and `limit`.
  private static func bounce(_ distance: Int, within limit: Int) -> Int {
    guard limit > 0 else { return 0 }
    let position = distance % (2 * limit)
    return position <= limit ? position : 2 * limit - position
  }
}
