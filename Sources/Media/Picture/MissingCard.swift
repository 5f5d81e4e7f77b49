public import Frames
public import Wire

/// The picture shown in place of a missing camera: what is missing, why, and a clock that shows that everything
/// else is running. Dark, because it may be on in a bedroom.
public struct MissingCard: Sendable {
  /// One line, large: `No camera`.
  public var title: String
  /// Below it, smaller; wrapped to the picture's width.
  public var lines: [String]
  private let pool: VideoFramePool

  private static let background = YUVColour(y: 34, u: 136, v: 124)
  private static let band = YUVColour(y: 48, u: 140, v: 122)
  private static let titleLuma: UInt8 = 190
  private static let lineLuma: UInt8 = 140
  private static let clockLuma: UInt8 = 110

  /// Sizes are rounded up to even numbers.
  public init(width: Int, height: Int, title: String, lines: [String] = []) {
    pool = VideoFramePool(width: width, height: height)
    self.title = title
    self.lines = lines
  }

  public func draw(captureTime: Instant, sequence: UInt64, unixNanoseconds: Int64) -> VideoFrame {
    let frame = pool.makeFrame(captureTime: captureTime, sequence: sequence)
    draw(into: frame, unixNanoseconds: unixNanoseconds)
    return frame
  }

  /// Draws over a whole frame of any size that is not shared yet.
  public func draw(into frame: VideoFrame, unixNanoseconds: Int64) {
    let canvas = Canvas(frame)
    canvas.clear(Self.background)
    // By the longer side, so that an upright picture on a phone can be read, too; some thirty letters fit on a line.
    let small = TextRenderer(scale: max(1, min(max(frame.width, frame.height) / 426, frame.width / 240)))
    let room = frame.width - 8 * small.advance
    let large = TextRenderer(scale: titleScale(room: room, small: small.scale))
    let wrapped = lines.flatMap { small.wrap($0, width: room) }

    let textHeight = large.lineHeight * 3 / 2 + wrapped.count * small.lineHeight * 5 / 4
    var y = max(0, (frame.height - textHeight) / 2 - small.lineHeight)
    canvas.fill(
      x: 0, y: y - large.lineHeight / 2, width: frame.width, height: large.lineHeight * 2 - large.scale * 2, Self.band)
    drawCentred(title, y: y, luma: Self.titleLuma, large, canvas)
    y += large.lineHeight * 2
    for line in wrapped {
      drawCentred(line, y: y, luma: Self.lineLuma, small, canvas)
      y += small.lineHeight * 5 / 4
    }

    let clock = WallClockText.time(
      unixNanoseconds: unixNanoseconds,
      utcOffsetSeconds: WallClockText.localUTCOffsetSeconds(unixNanoseconds: unixNanoseconds))
    drawCentred(clock, y: frame.height - 2 * small.lineHeight, luma: Self.clockLuma, small, canvas)
  }

  /// The largest scale, up to three times that of the lines, at which the title fits.
  private func titleScale(room: Int, small: Int) -> Int {
    var scale = small * 3
    while scale > small, TextRenderer(scale: scale).width(of: title) > room { scale -= 1 }
    return scale
  }

  private func drawCentred(_ text: String, y: Int, luma: UInt8, _ renderer: TextRenderer, _ canvas: Canvas) {
    renderer.draw(text, x: (canvas.frame.width - renderer.width(of: text)) / 2, y: y, luma: luma, on: canvas)
  }
}
