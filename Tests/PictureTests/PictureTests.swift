import Frames
import Picture
import Testing
import Wire

@Suite struct TestPictureTests {
  private static let picture = TestPicture(width: 320, height: 240)
  private let unix: Int64 = 1_763_700_000_250_000_000

  private func bytes(_ frame: VideoFrame) -> [UInt8] {
    (0..<frame.height).flatMap { row in (0..<frame.width).map { frame.y[row * frame.strideY + $0] } }
      + (0..<frame.height / 2).flatMap { row in (0..<frame.width / 2).map { frame.v[row * frame.strideUV + $0] } }
  }

  @Test func theSameFrameIsTheSamePicture() {
    let first = Self.picture.draw(captureTime: .zero, sequence: 17, unixNanoseconds: unix)
    let second = TestPicture(width: 320, height: 240).draw(captureTime: .zero, sequence: 17, unixNanoseconds: unix)
    #expect(bytes(first) == bytes(second))
  }

  @Test func theNextFrameHasPannedByTwoPixels() {
    let first = Self.picture.draw(captureTime: .zero, sequence: 200, unixNanoseconds: unix)
    let second = Self.picture.draw(captureTime: .zero, sequence: 201, unixNanoseconds: unix)
    // A row below timecode, above the clock; the square covers less than half of it.
    let row = 120 * first.strideY
    let same = (0..<318).filter { first.y[row + $0 + 2] == second.y[row + $0] }.count
    #expect(same > 200)
    #expect(bytes(first) != bytes(second))
  }

  @Test func itCarriesTimeAndStamps() {
    let frame = Self.picture.draw(captureTime: Instant(nanoseconds: 3), sequence: 9, unixNanoseconds: unix)
    #expect(Timecode32.read(frame) == Timecode32.value(unixNanoseconds: unix))
    #expect(frame.captureTime == Instant(nanoseconds: 3) && frame.sequence == 9)
  }

  @Test(arguments: [(2, 2), (34, 18), (81, 61), (176, 144), (1000, 40)]) func anySizeCanBeDrawn(
    width: Int, height: Int
  ) {
    let picture = TestPicture(width: width, height: height)
    for sequence: UInt64 in [0, 1, 999, .max] {
      _ = picture.draw(captureTime: .zero, sequence: sequence, unixNanoseconds: -5)
    }
    #expect(picture.width % 2 == 0 && picture.height % 2 == 0)
  }
}

@Suite struct TextTests {
  private func frame(_ width: Int, _ height: Int) -> VideoFrame {
    let frame = VideoFramePool(width: width, height: height).makeFrame(captureTime: .zero, sequence: 0)
    Canvas(frame).clear(.black)
    return frame
  }

  private func rows(_ frame: VideoFrame, width: Int, height: Int) -> [String] {
    (0..<height).map { row in
      String((0..<width).map { frame.y[row * frame.strideY + $0] > 100 ? "X" : "." })
    }
  }

  @Test func glyphsLookLikeTheirCharacters() {
    let frame = frame(12, 10)
    TextRenderer(scale: 1).draw("Tg", x: 0, y: 0, luma: 235, on: Canvas(frame))
    #expect(
      rows(frame, width: 11, height: 9) == [
        "XXXXX......", "..X........", "..X....XXXX", "..X...X...X", "..X...X...X", "..X...X...X", "..X....XXXX",
        "..........X", ".......XXX.",
      ])
  }

  @Test func magnificationIsWhole() {
    let frame = frame(30, 30)
    TextRenderer(scale: 3).draw("-", x: 0, y: 0, luma: 235, on: Canvas(frame))
    let ink = rows(frame, width: 30, height: 30).joined().filter { $0 == "X" }.count
    #expect(ink == 5 * 9)
  }

  @Test func whatLiesOutsideIsCutOff() {
    let frame = frame(16, 16)
    TextRenderer(scale: 4).draw("Long text", x: -30, y: -8, luma: 235, on: Canvas(frame))
    TextRenderer(scale: 4).draw("é日", x: 10, y: 12, luma: 235, on: Canvas(frame))
    Canvas(frame).fill(x: -5, y: -5, width: -3, height: 9, .white)
    #expect(frame.width == 16)
  }

  @Test func linesBreakAtSpacesAndLongWordsAnywhere() {
    let renderer = TextRenderer(scale: 1)
    #expect(renderer.wrap("a bc def", width: 5 * 6) == ["a bc", "def"])
    #expect(renderer.wrap("abcdefgh i", width: 3 * 6) == ["abc", "def", "gh", "i"])
    #expect(renderer.wrap("", width: 100) == [])
    #expect(renderer.wrap("ab", width: 0) == ["a", "b"])
  }

  @Test func theClockIsTheTimeOfDayAtItsOffset() {
    let unix: Int64 = 1_763_700_005_007_000_000
    #expect(WallClockText.time(unixNanoseconds: unix, utcOffsetSeconds: 0) == "04:40:05")
    #expect(WallClockText.timeWithMilliseconds(unixNanoseconds: unix, utcOffsetSeconds: 3600) == "05:40:05.007")
    #expect(WallClockText.time(unixNanoseconds: unix, utcOffsetSeconds: -5 * 3600) == "23:40:05")
    #expect(WallClockText.timeWithMilliseconds(unixNanoseconds: -1, utcOffsetSeconds: 0) == "23:59:59.999")
  }
}

@Suite struct MissingCardTests {
  /// Rows of the title's letters: a picture that stands upright is shown as high as another is wide.
  @Test func anUprightCardIsReadAsWell() {
    let heights = [(1280, 720), (720, 1280)].map { width, height in
      let frame = MissingCard(width: width, height: height, title: "No camera")
        .draw(captureTime: .zero, sequence: 0, unixNanoseconds: 0)
      return (0..<height * 3 / 4).count { row in
        (0..<width).contains { frame.y[row * frame.strideY + $0] > 180 }
      }
    }
    #expect(heights[0] > 40 && heights[1] >= heights[0], "\(heights)")
  }

  @Test func itIsDarkAndItsClockGoes() {
    let card = MissingCard(width: 320, height: 180, title: "No camera", lines: ["Plug one in."])
    let first = card.draw(captureTime: .zero, sequence: 0, unixNanoseconds: 0)
    let second = card.draw(captureTime: .zero, sequence: 1, unixNanoseconds: 1_000_000_000)
    var sum = 0
    var changed = 0
    for row in 0..<180 {
      for column in 0..<320 {
        sum += Int(first.y[row * first.strideY + column])
        if first.y[row * first.strideY + column] != second.y[row * second.strideY + column] { changed += 1 }
      }
    }
    #expect(sum / (320 * 180) < 60)
    #expect(changed > 5)
  }

  @Test(arguments: [(2, 2), (64, 48), (1920, 1080)]) func anySizeAndTextCanBeDrawn(width: Int, height: Int) {
    let card = MissingCard(
      width: width, height: height, title: "A title that is far too long for any picture of this size",
      lines: ["", String(repeating: "word ", count: 40)])
    _ = card.draw(captureTime: .zero, sequence: 0, unixNanoseconds: 0)
  }
}
