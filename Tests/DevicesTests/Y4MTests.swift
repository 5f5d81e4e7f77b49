import Frames
import Testing
import Wire

@testable import Devices

struct Y4MTests {
  private func reader(_ bytes: [UInt8]) throws(DeviceError) -> Y4MReader {
    try Y4MReader(ByteArray(bytes: bytes), name: "clip.y4m")
  }

  private func problem(_ bytes: [UInt8]) -> String? {
    do throws(DeviceError) {
      _ = try reader(bytes)
      return nil
    } catch {
      return error.summary
    }
  }

  @Test func theHeaderGivesSizeAndRate() throws {
    let line = "YUV4MPEG2 W1280 H720 F30000:1001 Ip A1:1 C420mpeg2 XYSCSS=420\n"
    let header = try Y4MHeader.parse(Array("\(line)FRAME\n".utf8))
    #expect(header.header == Y4MHeader(width: 1280, height: 720, rateNumerator: 30000, rateDenominator: 1001))
    #expect(header.length == line.utf8.count)
    #expect(header.header.frameBytes == 1_382_400)
  }

  @Test func anUnknownRateIsTwentyFive() throws {
    #expect(try Y4MHeader.parse(Array("YUV4MPEG2 W32 H16 F0:0\n".utf8)).header.framesPerSecond == 25)
    #expect(try Y4MHeader.parse(Array("YUV4MPEG2 H16 W32\n".utf8)).header.framesPerSecond == 25)
  }

  @Test func picturesRepeatAfterTheLast() throws {
    var reader = try reader(MediaBytes.y4m(lumas: [10, 20, 30]))
    var lumas: [UInt8] = []
    for sequence in 0..<7 {
      let frame = try reader.next(captureTime: .zero, sequence: UInt64(sequence))
      lumas.append(frame.y[0])
      #expect(frame.y[15 * frame.strideY + 31] == frame.y[0])
      #expect(frame.u[7 * frame.strideUV + 15] == 128 && frame.v[0] == 128)
    }
    #expect(lumas == [10, 20, 30, 10, 20, 30, 10])
  }

  @Test func aTruncatedLastPictureIsLeftOut() throws {
    for cut in [1, 700, 768, 770] {
      var reader = try reader(MediaBytes.y4m(lumas: [10, 20]).dropLast(cut))
      #expect(try reader.next(captureTime: .zero, sequence: 0).y[0] == 10)
      #expect(try reader.next(captureTime: .zero, sequence: 1).y[0] == 10)
    }
  }

  @Test func anotherSizeInOneFileIsSaidAsThat() throws {
    var other = Array("YUV4MPEG2 W64 H32\nFRAME\n".utf8)
    other += [UInt8](repeating: 9, count: 64 * 32 * 3 / 2)
    var reader = try reader(MediaBytes.y4m(lumas: [10]) + other)
    _ = try reader.next(captureTime: .zero, sequence: 0)
    let error = #expect(throws: DeviceError.self) { try reader.next(captureTime: .zero, sequence: 1) }
    #expect(error?.summary.contains("of 64x32 after 32x16") == true, "\(String(describing: error))")
  }

  @Test func frameLinesMayHaveParameters() throws {
    var bytes = Array("YUV4MPEG2 W32 H16 F5:1\nFRAME Ip XTEST\n".utf8)
    bytes += [UInt8](repeating: 77, count: 768)
    var reader = try reader(bytes)
    #expect(try reader.next(captureTime: .zero, sequence: 0).y[0] == 77)
  }

  @Test func oddSizesAreCutToEven() throws {
    var reader = try reader(MediaBytes.y4m(header: "W33 H17 F5:1 C420", lumas: [9, 8], width: 33, height: 17))
    let frame = try reader.next(captureTime: .zero, sequence: 0)
    #expect(frame.width == 32 && frame.height == 16)
    #expect(frame.u[7 * frame.strideUV + 15] == 128)
    #expect(try reader.next(captureTime: .zero, sequence: 1).y[0] == 8)
  }

  @Test func aBadFileIsRefusedWithItsReason() {
    #expect(problem([])?.contains("not a Y4M file") == true)
    #expect(problem(Array("RIFF".utf8))?.contains("not a Y4M file") == true)
    #expect(problem(Array("YUV4MPEG2 W32 H16".utf8))?.contains("does not end") == true)
    let endless = Array("YUV4MPEG2 ".utf8) + [UInt8](repeating: 32, count: 5000) + [10]
    #expect(problem(endless)?.contains("does not end") == true)
    #expect(problem(MediaBytes.y4m(header: "H16 F25:1", lumas: [1]))?.contains("size") == true)
    #expect(problem(MediaBytes.y4m(header: "W99999999999999999999 H16", lumas: [1]))?.contains("size") == true)
    for size in ["W8192 H8192", "W8192 H4608", "W4098 H2304", "W16 H8194", "W15 H16", "W-16 H-16"] {
      #expect(problem(MediaBytes.y4m(header: size, lumas: [1]))?.contains("no usable size") == true)
    }
    let words = "W32 H16 F\u{1b}[2J\u{9b}31m\u{202e}x\u{7f}\(String(repeating: "\u{301}", count: 90))"
    #expect(
      problem(MediaBytes.y4m(header: words, lumas: [1]))
        == "its rate F[2J31mx\u{301}\u{301}\u{301}\u{301} is no fraction")
    #expect(problem(MediaBytes.y4m(header: "W32 H16 F1:0", lumas: [1]))?.contains("rate") == true)
    #expect(problem(MediaBytes.y4m(header: "W32 H16 Fx", lumas: [1]))?.contains("rate") == true)
    #expect(problem(MediaBytes.y4m(header: "W32 H16 C444", lumas: [1]))?.contains("4:2:0") == true)
    #expect(problem(MediaBytes.y4m(header: "W32 H16 C420p10", lumas: [1]))?.contains("4:2:0") == true)
    #expect(problem(MediaBytes.y4m(lumas: []))?.contains("first picture") == true)
    #expect(problem(MediaBytes.y4m(lumas: [1]).dropLast())?.contains("first picture") == true)
    #expect(problem(Array("YUV4MPEG2 W32 H16\nNONSENSE\n".utf8))?.contains("FRAME") == true)
  }

  @Test func nonsenseBetweenPicturesIsReported() throws {
    var reader = try reader(MediaBytes.y4m(lumas: [1]) + [UInt8](repeating: 0x55, count: 1000))
    _ = try reader.next(captureTime: .zero, sequence: 0)
    #expect(throws: DeviceError.self) { try reader.next(captureTime: .zero, sequence: 1) }
  }
}
