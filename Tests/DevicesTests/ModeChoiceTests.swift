import DeviceNames
import Glibc
import Testing

@testable import Devices

struct ModeChoiceTests {
  private func rates(_ values: Int...) -> FrameRates {
    .discrete(values.compactMap { FrameInterval(numerator: 1, denominator: UInt32($0)) })
  }

  private func choose(
    _ modes: [CameraMode], _ width: Int = 1280, _ height: Int = 720, _ rate: Double = 30
  ) -> (format: CameraFormat, width: Int, height: Int, rate: Double?)? {
    let request = VideoRequest(width: width, height: height, framesPerSecond: rate)
    return ModeChoice.best(of: modes, for: request).map {
      ($0.mode.format, $0.mode.width, $0.mode.height, $0.interval?.framesPerSecond)
    }
  }

  /// A common USB 2 webcam: 720p uncompressed only at 10 frames/s.
  private var webcam: [CameraMode] {
    [
      CameraMode(format: .yuyv, width: 640, height: 480, rates: rates(30, 15)),
      CameraMode(format: .yuyv, width: 1280, height: 720, rates: rates(10, 5)),
      CameraMode(format: .mjpeg, width: 640, height: 480, rates: rates(30)),
      CameraMode(format: .mjpeg, width: 1280, height: 720, rates: rates(30, 15)),
      CameraMode(format: .mjpeg, width: 1920, height: 1080, rates: rates(30)),
    ]
  }

  @Test func uncompressedIsTakenWhereItReachesTheRate() throws {
    let choice = try #require(choose(webcam, 640, 480, 30))
    #expect(choice == (.yuyv, 640, 480, 30))
  }

  @Test func mjpegIsTakenWhereOnlyItReachesTheRate() throws {
    let choice = try #require(choose(webcam, 1280, 720, 30))
    #expect(choice == (.mjpeg, 1280, 720, 30))
  }

  @Test func aSlowWishIsServedUncompressed() throws {
    let choice = try #require(choose(webcam, 1280, 720, 10))
    #expect(choice == (.yuyv, 1280, 720, 10))
  }

  @Test func theNearestSizeIsTaken() throws {
    #expect(try #require(choose(webcam, 1366, 768, 30)).width == 1280)
    #expect(try #require(choose(webcam, 3840, 2160, 30)).width == 1920)
    #expect(try #require(choose(webcam, 320, 240, 30)).width == 640)
  }

  @Test func theNearestRateIsTaken() throws {
    #expect(try #require(choose(webcam, 1280, 720, 25)).rate == 30)
    #expect(try #require(choose(webcam, 1280, 720, 1)).rate == 5)
  }

  @Test func ofTwoRatesEquallyFarTheFasterIsTaken() throws {
    let modes = [CameraMode(format: .yuyv, width: 640, height: 480, rates: rates(10, 20))]
    #expect(try #require(choose(modes, 640, 480, 15)).rate == 20)
  }

  @Test func ntscRatesCountAsTheRoundOnes() throws {
    let ntsc = FrameRates.discrete([FrameInterval(numerator: 1001, denominator: 30000)!])
    let modes = [
      CameraMode(format: .mjpeg, width: 1280, height: 720, rates: rates(30)),
      CameraMode(format: .yuyv, width: 1280, height: 720, rates: ntsc),
    ]
    #expect(try #require(choose(modes)).format == .yuyv)
  }

  @Test func theFormatThatCostsLeastIsTakenOfEquals() throws {
    let modes = [CameraFormat.uyvy, .yuyv, .nv12, .mjpeg, .yuv420].map {
      CameraMode(format: $0, width: 1280, height: 720, rates: rates(30))
    }
    #expect(try #require(choose(modes)).format == .yuv420)
    #expect(try #require(choose(modes.dropLast())).format == .nv12)
  }

  @Test func greyIsTheLastResort() throws {
    let grey = CameraMode(format: .grey, width: 1280, height: 720, rates: rates(30))
    let colour = CameraMode(format: .mjpeg, width: 320, height: 240, rates: rates(5))
    #expect(try #require(choose([grey, colour])).format == .mjpeg)
    #expect(try #require(choose([grey])).format == .grey)
  }

  @Test func unknownRatesAreTakenOnTrust() throws {
    let modes = [
      CameraMode(format: .mjpeg, width: 1280, height: 720, rates: rates(30)),
      CameraMode(format: .yuyv, width: 1280, height: 720, rates: .unknown),
    ]
    let choice = try #require(choose(modes))
    #expect(choice.format == .yuyv)
    #expect(choice.rate == nil)
  }

  @Test func aRangeOfRatesGivesTheWishOrItsEnd() throws {
    let range = FrameRates.range(
      shortest: FrameInterval(numerator: 1, denominator: 60)!, longest: FrameInterval(numerator: 1, denominator: 5)!)
    let modes = [CameraMode(format: .nv12, width: 1280, height: 720, rates: range)]
    #expect(try #require(choose(modes, 1280, 720, 24)).rate == 24)
    #expect(try #require(choose(modes, 1280, 720, 100)).rate == 60)
    #expect(try #require(choose(modes, 1280, 720, 1)).rate == 5)
  }

  @Test func noModesGiveNoChoice() {
    #expect(choose([]) == nil)
  }

  @Test func sizesInStepsAreRoundedIntoTheirRange() {
    #expect(CameraDevice.nearest(to: 1280, least: 16, most: 2592, step: 16) == 1280)
    #expect(CameraDevice.nearest(to: 1290, least: 16, most: 2592, step: 16) == 1296)
    #expect(CameraDevice.nearest(to: 9999, least: 16, most: 2592, step: 16) == 2592)
    #expect(CameraDevice.nearest(to: 1, least: 16, most: 2592, step: 0) == 16)
  }

  @Test func formatsAreNamedByTheirFourCharacters() {
    #expect(CameraFormat.yuyv.name == "YUYV")
    #expect(CameraFormat.mjpeg.name == "MJPG")
    #expect(CameraFormat.yuv420.name == "YU12")
    #expect(CameraFormat.name(ofFourcc: 0x2020_3859) == "Y8")
    #expect(CameraFormat.name(ofFourcc: 0) == "????")
    for format in CameraFormat.allCases { #expect(CameraFormat(fourcc: format.fourcc) == format) }
  }

  // MARK: A USB bus without room

  private let request = VideoRequest(width: 1280, height: 720, framesPerSecond: 10)
  private let full = DeviceError.system(ENOSPC, device: "/dev/video0", operation: "VIDIOC_STREAMON", kind: .camera)

  /// Opens what needs less than `room` bytes a second.
  private func open(_ modes: [CameraMode], room: Double) throws -> (mode: String, rate: Double?, refused: [String]) {
    let ranked = ModeChoice.ranked(modes, for: request)
    let opened = try ModeChoice.firstWithRoom(ranked, for: request) { (choice) throws(DeviceError) in
      if choice.bytesPerSecond(for: request) > room { throw full }
      return choice.text
    }
    return (opened.opened, opened.choice.interval?.framesPerSecond, opened.refused.map(\.text))
  }

  @Test func withRoomTheBestModeIsTaken() throws {
    let opened = try open(webcam, room: .infinity)
    #expect(opened.mode == "YUYV 1280x720" && opened.rate == 10 && opened.refused.isEmpty)
  }

  @Test func withoutRoomACompressedModeOfTheSameSizeIsTaken() throws {
    let opened = try open(webcam, room: 10e6)
    #expect(opened.mode == "MJPG 1280x720" && opened.refused.first == "YUYV 1280x720")
  }

  @Test func withoutCompressionTheSameSizeComesSlowerThenSmaller() throws {
    let raw =
      webcam.filter { $0.format == .yuyv } + [CameraMode(format: .yuyv, width: 160, height: 120, rates: rates(30, 15))]
    let slower = try open(raw, room: 10e6)
    #expect(slower.mode == "YUYV 1280x720" && slower.rate == 5)
    #expect(try open(raw, room: 1e6).mode == "YUYV 160x120")
  }

  @Test func withoutAnyRoomTheBusIsNamed() {
    #expect(throws: full) { _ = try open(webcam, room: 0) }
  }

  @Test func anotherFaultIsNotTakenForAFullBus() {
    let gone = DeviceError.system(ENODEV, device: "/dev/video0", operation: "VIDIOC_STREAMON", kind: .camera)
    var tries = 0
    #expect(throws: gone) {
      _ = try ModeChoice.firstWithRoom(ModeChoice.ranked(webcam, for: request), for: request) {
        (choice) throws(DeviceError) -> String in
        tries += 1
        throw gone
      }
    }
    #expect(tries == 1)
  }

  // MARK: Infrared cameras

  private func node(_ path: String, _ name: String, _ formats: CameraFormat...) -> AutomaticCamera.Node {
    AutomaticCamera.Node(path: path, name: name, formats: formats.map(\.fourcc))
  }

  @Test func colourComesBeforeInfrared() {
    let nodes = [
      node("/dev/video0", "Integrated Camera: Integrated I", .grey),
      node("/dev/video2", "Integrated Camera: Integrated C", .yuyv, .mjpeg), node("/dev/video4", "Webcam", .mjpeg),
    ]
    #expect(AutomaticCamera.colourFirst(nodes) == ["/dev/video2", "/dev/video4", "/dev/video0"])
  }

  @Test(arguments: ["HP IR Camera", "USB2.0 IR UVC HD Webcam", "Infrared", "RealSense Depth"])
  func anInfraredCameraIsKnownByItsName(name: String) {
    #expect(node("/dev/video0", name, .yuyv).isInfrared)
  }

  @Test(arguments: ["IRIS Cam", "FirePix", "Logitech C270", ""]) func otherNamesAreNotInfrared(name: String) {
    #expect(!node("/dev/video0", name, .yuyv, .grey).isInfrared)
  }

  @Test func oneThatCannotBeOpenedKeepsItsPlace() {
    let nodes = [AutomaticCamera.Node(path: "/dev/video0", name: "", formats: []), node("/dev/video1", "", .yuyv)]
    #expect(AutomaticCamera.colourFirst(nodes) == ["/dev/video0", "/dev/video1"])
  }

  /// "Y8  " and "Y16 ", as drivers write them, and sixteen-bit depth.
  @Test(arguments: [0x2020_3859, 0x2036_3159, 0x2036_315a] as [UInt32]) func greyFormatsAreKnown(fourcc: UInt32) {
    #expect(CameraFormat.isGrey(fourcc: fourcc))
  }

}

private func == (
  left: (format: CameraFormat, width: Int, height: Int, rate: Double?), right: (CameraFormat, Int, Int, Double)
) -> Bool {
  left.format == right.0 && left.width == right.1 && left.height == right.2 && left.rate == right.3
}
