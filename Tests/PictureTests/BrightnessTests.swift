import Frames
import Testing
import Wire

@Suite struct BrightnessTests {
  private func brightness(_ width: Int, _ height: Int, _ luma: (Int, Int) -> UInt8) -> Double {
    let frame = VideoFramePool(width: width, height: height).makeFrame(captureTime: .zero, sequence: 0)
    for row in 0..<height {
      for column in 0..<width { frame.mutableY[row * frame.strideY + column] = luma(row, column) }
    }
    return frame.brightness
  }

  @Test(arguments: [(0, 0.0), (16, 0), (235, 1), (255, 1), (126, 0.5023)])
  func blackIsNoneAndWhiteIsOne(luma: UInt8, expected: Double) {
    #expect(abs(brightness(320, 180) { _, _ in luma } - expected) < 0.001)
  }

  @Test func halfAPictureIsHalf() {
    #expect(abs(brightness(640, 480) { _, column in column < 320 ? 16 : 235 } - 0.5) < 0.001)
    #expect(abs(brightness(640, 480) { row, _ in row < 240 ? 16 : 235 } - 0.5) < 0.001)
  }

  @Test(arguments: [(2, 2), (16, 16), (8, 300), (18, 34)]) func smallPicturesHaveOneToo(width: Int, height: Int) {
    #expect(brightness(width, height) { _, _ in 235 } == 1)
    #expect(brightness(width, height) { _, _ in 16 } == 0)
  }
}
