import Frames
import Picture
import Testing
import Wire

@Suite struct Timecode32Tests {
  private func frame(_ width: Int, _ height: Int) -> VideoFrame {
    let frame = VideoFramePool(width: width, height: height).makeFrame(captureTime: .zero, sequence: 0)
    Canvas(frame).clear(YUVColour(y: 100, u: 90, v: 200))
    return frame
  }

  @Test func blocksLieWhereTheSpecificationSays() {
    let frame = frame(1280, 720)
    Timecode32.draw(0x8000_0001, on: Canvas(frame))
    #expect(Timecode32.blockSide(width: 1280) == 32)
    // Most significant bit first: 235 over 16, then 16 over 235 until the last.
    #expect(frame.y[0] == 235 && frame.y[31 * frame.strideY + 31] == 235)
    #expect(frame.y[32 * frame.strideY] == 16 && frame.y[63 * frame.strideY + 31] == 16)
    #expect(frame.y[32] == 16 && frame.y[32 * frame.strideY + 32] == 235)
    #expect(frame.y[1023] == 235 && frame.y[1024] == 100)
    #expect(frame.y[64 * frame.strideY] == 100)
    #expect(frame.u[0] == 128 && frame.v[31 * frame.strideUV + 511] == 128)
    #expect(frame.u[512] == 90 && frame.v[32 * frame.strideUV] == 200)
  }

  @Test(arguments: [(80, 60), (160, 120), (176, 144), (320, 240), (640, 480), (854, 480), (1920, 1080), (2592, 1944)])
  func everySizeIsReadBack(width: Int, height: Int) {
    let frame = frame(width, height)
    for value: UInt32 in [0, 1, 0xffff_ffff, 0x8000_0000, 0xa5a5_5a5a, 0x1234_5678] {
      Timecode32.draw(value, on: Canvas(frame))
      #expect(Timecode32.read(frame) == value)
    }
  }

  @Test func picturesTooSmallCarryNone() {
    for (width, height) in [(78, 60), (1280, 62), (2, 2)] {
      let frame = frame(width, height)
      Timecode32.draw(77, on: Canvas(frame))
      #expect(frame.y[0] == 100)
      #expect(Timecode32.read(frame) == nil)
    }
  }

  @Test func aBlockThatContradictsItsInverseIsRefused() {
    let frame = frame(640, 480)
    #expect(Timecode32.read(frame) == nil)
    Timecode32.draw(0x0f0f_0f0f, on: Canvas(frame))
    #expect(Timecode32.read(frame) == 0x0f0f_0f0f)
    Canvas(frame).fill(x: 5 * 16, y: 0, width: 16, height: 32, .white)
    #expect(Timecode32.read(frame) == nil)
  }

  @Test func anotherLumaRangeIsReadAsWell() {
    let frame = frame(640, 480)
    Timecode32.draw(0xdead_beef, on: Canvas(frame))
    for index in 0..<frame.strideY * 32 {
      frame.mutableY[index] = UInt8(40 + Int(frame.y[index]) / 2)
    }
    #expect(Timecode32.read(frame) == 0xdead_beef)
  }

  @Test func aScaledPictureIsReadWithTheWidthItWasDrawnAt() {
    // Nearest neighbours from 1280 to 854, whose own blocks would be 20 instead of 21.35 pixels.
    let source = frame(1280, 720)
    Timecode32.draw(0x1357_9bdf, on: Canvas(source))
    let target = frame(854, 480)
    for y in 0..<480 {
      for x in 0..<854 {
        target.mutableY[y * target.strideY + x] = source.y[y * 720 / 480 * source.strideY + x * 1280 / 854]
      }
    }
    #expect(
      Timecode32.read(luma: target.y, stride: target.strideY, width: 854, height: 480, drawnWidth: 1280) == 0x1357_9bdf)
    #expect(Timecode32.read(target) != 0x1357_9bdf)
  }

  @Test func theValueIsMillisecondsModuloTwoToThe32() {
    #expect(Timecode32.value(unixNanoseconds: 1_999_999) == 1)
    #expect(Timecode32.value(unixNanoseconds: (1 << 32) * 1_000_000) == 0)
    #expect(
      Timecode32.value(unixNanoseconds: 1_763_700_000_123_456_789) == UInt32(truncatingIfNeeded: 1_763_700_000_123))
    #expect(Timecode32.value(unixNanoseconds: -1) == 0xffff_ffff)
  }
}
