import Codecs
import Frames
import Picture
import Testing
import Wire

@Suite struct VideoScalerTests {
  private func plain(_ width: Int, _ height: Int, _ colour: YUVColour) -> VideoFrame {
    let frame = VideoFramePool(width: width, height: height)
      .makeFrame(captureTime: Instant(nanoseconds: 5), sequence: 8)
    Canvas(frame).clear(colour)
    return frame
  }

  @Test func theSameSizeIsTheSameFrame() {
    let frame = plain(64, 48, .white)
    #expect(VideoScaler.scale(frame, pool: VideoFramePool(width: 64, height: 48)) === frame)
  }

  @Test func aWidePictureGetsBarsAboveAndBelow() {
    let colour = YUVColour(y: 180, u: 90, v: 160)
    let scaled = VideoScaler.scale(plain(160, 90, colour), pool: VideoFramePool(width: 80, height: 80))
    #expect(
      VideoScaler.placement(sourceWidth: 160, sourceHeight: 90, in: 80, 80) == .init(x: 0, y: 18, width: 80, height: 44)
    )
    #expect(scaled.y[0] == 16 && scaled.u[0] == 128)
    #expect(scaled.y[40 * scaled.strideY + 40] == 180)
    #expect(scaled.u[20 * scaled.strideUV + 20] == 90 && scaled.v[20 * scaled.strideUV + 20] == 160)
    #expect(scaled.y[79 * scaled.strideY + 79] == 16)
    #expect(scaled.captureTime == Instant(nanoseconds: 5) && scaled.sequence == 8)
  }

  @Test func aTallPictureGetsBarsAtItsSides() {
    let scaled = VideoScaler.scale(plain(48, 64, .white), pool: VideoFramePool(width: 128, height: 96))
    #expect(scaled.y[48 * scaled.strideY + 2] == 16)
    #expect(scaled.y[48 * scaled.strideY + 64] == 235)
  }

  @Test(arguments: [(2, 2), (16384, 2), (2, 16384), (1920, 1080)]) func extremeShapesStayInside(
    width: Int, height: Int
  ) {
    let place = VideoScaler.placement(sourceWidth: width, sourceHeight: height, in: 320, 240)
    #expect(place.width >= 2 && place.height >= 2)
    #expect(place.x >= 0 && place.x + place.width <= 320)
    #expect(place.y >= 0 && place.y + place.height <= 240)
  }
}
