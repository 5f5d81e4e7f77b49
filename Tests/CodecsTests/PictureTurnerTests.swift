import Codecs
import Frames
import TestSupport
import Testing
import Wire

@Suite struct PictureTurnerTests {
  /// Where a pixel of the turned picture comes from: the rotation clockwise, then the mirror, written plainly.
  private func origin(
    _ x: Int, _ y: Int, of size: (width: Int, height: Int), _ degrees: Int, _ isMirrored: Bool
  ) -> (x: Int, y: Int) {
    let width = degrees % 180 == 0 ? size.width : size.height
    let column = isMirrored ? width - 1 - x : x
    return switch degrees {
    case 90: (y, size.height - 1 - column)
    case 180: (size.width - 1 - column, size.height - 1 - y)
    case 270: (size.width - 1 - y, column)
    default: (column, y)
    }
  }

  /// Sizes that libyuv turns in blocks, and with rests.
  @Test(arguments: [0, 90, 180, 270], [(64, 48), (70, 34), (16, 18), (1280, 720)])
  func everyPixelGoesWhereItBelongs(degrees: Int, size: (width: Int, height: Int)) {
    var random = SeededGenerator(seed: UInt64(size.width))
    let frame = VideoFramePool(width: size.width, height: size.height)
      .makeFrame(captureTime: .zero + .seconds(3), sequence: 7)
    for index in 0..<(frame.strideY + frame.strideUV) * frame.height {
      frame.mutableY[index] = UInt8.random(in: 0...255, using: &random)
    }
    let turnedSize = degrees % 180 == 0 ? size : (size.height, size.width)
    let pool = VideoFramePool(width: turnedSize.0, height: turnedSize.1)
    for isMirrored in [false, true] {
      let turned = PictureTurner.turn(frame, degrees: degrees, isMirrored: isMirrored, into: pool)
      #expect(turned.captureTime == frame.captureTime && turned.sequence == 7)
      var differences = 0
      for y in 0..<turned.height {
        for x in 0..<turned.width {
          let from = origin(x, y, of: size, degrees, isMirrored)
          if turned.y[y * turned.strideY + x] != frame.y[from.y * frame.strideY + from.x] { differences += 1 }
        }
      }
      for y in 0..<turned.height / 2 {
        for x in 0..<turned.width / 2 {
          let from = origin(x, y, of: (size.width / 2, size.height / 2), degrees, isMirrored)
          let (here, there) = (y * turned.strideUV + x, from.y * frame.strideUV + from.x)
          if turned.u[here] != frame.u[there] || turned.v[here] != frame.v[there] { differences += 1 }
        }
      }
      #expect(differences == 0, "\(degrees)°\(isMirrored ? ", mirrored" : "")")
    }
  }
}
