import Codecs
import Frames
import Picture
import Testing
import Wire

@testable import Devices

struct FrameConverterTests {
  /// A converter that a macro can call.
  private final class Conversion {
    private var converter: FrameConverter

    init(format: CameraFormat, width: Int, height: Int, stride: Int = 0) throws {
      converter = try FrameConverter(format: format, width: width, height: height, stride: stride)
    }

    func callAsFunction(_ bytes: [UInt8]) -> VideoFrame? {
      bytes.withUnsafeBytes { converter.convert($0, captureTime: .zero, sequence: 3) }
    }
  }

  @Test func yuyvRowsWithPaddingAreConverted() throws {
    let convert = try Conversion(format: .yuyv, width: 16, height: 16, stride: 40)
    let row: [UInt8] = (0..<8).flatMap { _ in [81, 90, 81, 240] as [UInt8] } + [UInt8](repeating: 0, count: 8)
    let frame = try #require(convert((0..<16).flatMap { _ in row }))
    #expect(frame.y[0] == 81 && frame.y[15 * frame.strideY + 15] == 81)
    #expect(frame.u[0] == 90 && frame.v[7 * frame.strideUV + 7] == 240)
    #expect(frame.sequence == 3)
  }

  @Test func aStrideTheDriverForgotIsMadeUp() throws {
    for stride in [0, 16] {
      let convert = try Conversion(format: .uyvy, width: 16, height: 16, stride: stride)
      let picture = (0..<128).flatMap { _ in [90, 81, 240, 81] as [UInt8] }
      let frame = try #require(convert(picture))
      #expect(frame.y[15 * frame.strideY + 15] == 81 && frame.u[0] == 90)
    }
  }

  @Test func aShortPictureIsDropped() throws {
    for format in CameraFormat.allCases {
      let convert = try Conversion(format: format, width: 16, height: 16)
      #expect(convert([UInt8](repeating: 7, count: 100)) == nil)
      #expect(convert([]) == nil)
    }
  }

  @Test func motionJPEGIsDecoded() throws {
    let pool = VideoFramePool(width: 32, height: 16)
    let picture = pool.makeFrame(captureTime: .zero, sequence: 0)
    Canvas(picture).clear(YUVColour(y: 120, u: 90, v: 150))
    let jpeg = try JPEGEncoder().encode(picture, quality: 90)
    let convert = try Conversion(format: .mjpeg, width: 32, height: 16)
    let frame = try #require(convert(jpeg))
    #expect(abs(Int(frame.y[0]) - 120) < 4 && abs(Int(frame.u[0]) - 90) < 4 && abs(Int(frame.v[0]) - 150) < 4)
  }

  @Test func pictureAfterABrokenOneIsDecoded() throws {
    let picture = VideoFramePool(width: 32, height: 16).makeFrame(captureTime: .zero, sequence: 0)
    Canvas(picture).clear(.white)
    let jpeg = try JPEGEncoder().encode(picture)
    let convert = try Conversion(format: .mjpeg, width: 32, height: 16)
    for length in [3, 20, jpeg.count / 2, jpeg.count - 30] {
      #expect(convert(Array(jpeg.prefix(length))) == nil)
      #expect(convert(jpeg) != nil)
    }
  }

  private func jpeg(_ width: Int, _ height: Int) throws -> [UInt8] {
    let picture = VideoFramePool(width: width, height: height).makeFrame(captureTime: .zero, sequence: 0)
    Canvas(picture).clear(.white)
    return try JPEGEncoder().encode(picture)
  }

  @Test func picturesOfAnotherSizeAreTakenOnceTheyGoOn() throws {
    let convert = try Conversion(format: .mjpeg, width: 128, height: 80)
    let (asked, other) = (try jpeg(128, 80), try jpeg(96, 64))
    #expect(convert(asked)?.width == 128)
    // A damaged header now and then changes nothing.
    for _ in 0..<4 {
      #expect(convert(other) == nil)
      #expect(convert(asked)?.width == 128)
    }
    #expect(convert(other) == nil && convert(other) == nil)
    for _ in 0..<3 { #expect(convert(other)?.height == 64) }
    // And back.
    #expect(convert(asked) == nil && convert(asked) == nil)
    #expect(convert(asked)?.height == 80)
  }

  @Test func picturesFromTheStartOfAnotherSizeAreShown() throws {
    let convert = try Conversion(format: .mjpeg, width: 1280, height: 800)
    let other = try jpeg(1280, 720)
    #expect((0..<3).map { _ in convert(other)?.height } == [nil, nil, 720])
  }

  @Test func anImpossibleSizeCostsNoMemory() throws {
    let convert = try Conversion(format: .mjpeg, width: 64, height: 48)
    var large = try jpeg(96, 64)
    let header = try #require(large.indices.first { large[$0...].starts(with: [0xff, 0xc0]) })
    large.replaceSubrange(header + 5..<header + 9, with: [0x3f, 0xff, 0x3f, 0xff])
    for _ in 0..<6 { #expect(convert(large) == nil) }
  }

  @Test func aDroppedPictureSaysWhy() throws {
    var converter = try FrameConverter(format: .mjpeg, width: 32, height: 16, stride: 0)
    let whole = try jpeg(32, 16)
    let cut = whole.prefix(whole.count - 20)
    #expect(cut.withUnsafeBytes { converter.convert($0, captureTime: .zero, sequence: 0) } == nil)
    #expect(converter.fault?.isEmpty == false)
    let bare = whole.dropLast(2)
    #expect(bare.withUnsafeBytes { converter.convert($0, captureTime: .zero, sequence: 0) } != nil)
    #expect(converter.fault == nil && converter.remarks == ["no EOI marker"])
  }

  @Test func damageIsAShareOfTheLastHundred() {
    var meter = DamageMeter()
    for index in 0..<300 { meter.add(isDamaged: index % 15 != 0) }
    #expect(meter.damage.dropped == 280 && (92...94).contains(meter.damage.percent))
    for _ in 0..<100 { meter.add(isDamaged: false) }
    #expect(meter.damage.percent == 0)
  }
}
