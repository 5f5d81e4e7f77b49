import DeviceNames
import Foundation
import Frames
import Glibc
import Synchronization
import Testing
import Wire

@testable import Devices

/// `rotate` and `mirror`, for every source.
@Suite struct TurnedSourceTests {
  private static let orientations = Orientation.Rotation.allCases.flatMap { rotation in
    [false, true].map { Orientation(rotation: rotation, isMirrored: $0) }
  }

  /// Delivers what a test gives it; its size changes as that of a camera whose JPEG pictures have another.
  private final class Camera: MediaSource {
    private let current: Mutex<VideoSourceInfo>
    private let sink = Mutex<(@Sendable (VideoFrame) -> Void)?>(nil)

    init(_ info: VideoSourceInfo) { current = Mutex(info) }

    var info: VideoSourceInfo { current.withLock { $0 } }
    var damage: Damage {
      var damage = Damage()
      damage.dropped = 5
      return damage
    }

    func start(deliver: @escaping @Sendable (VideoFrame) -> Void, failed: @escaping @Sendable (DeviceError) -> Void) {
      sink.withLock { $0 = deliver }
    }

    func stop() { sink.withLock { $0 = nil } }

    func deliver(width: Int, height: Int) {
      current.withLock { ($0.width, $0.height) = (width, height) }
      sink.withLock { $0 }?(TurnedSourceTests.corner(width: width, height: height))
    }
  }

  /// White in the top left quarter, black elsewhere.
  private static func corner(width: Int, height: Int) -> VideoFrame {
    let frame = VideoFramePool(width: width, height: height).makeFrame(captureTime: .zero, sequence: 0)
    memset(frame.mutableU, 128, frame.strideUV * height)
    for y in 0..<height {
      for x in 0..<width { frame.mutableY[y * frame.strideY + x] = x < width / 2 && y < height / 2 ? 235 : 16 }
    }
    return frame
  }

  /// Which quarter is white: top left, top right, bottom right, bottom left.
  private static func quarter(_ frame: VideoFrame) -> Int? {
    let (left, right) = (frame.width / 4, frame.width * 3 / 4)
    let (top, bottom) = (frame.height / 4, frame.height * 3 / 4)
    let places = [(left, top), (right, top), (right, bottom), (left, bottom)]
    let white = places.indices.filter { frame.y[places[$0].1 * frame.strideY + places[$0].0] > 200 }
    return white.count == 1 ? white[0] : nil
  }

  private static func expected(_ orientation: Orientation) -> Int {
    let turned = orientation.rotation.rawValue / 90
    return orientation.isMirrored ? [1, 0, 3, 2][turned] : turned
  }

  private func request(_ orientation: Orientation, _ width: Int = 64, _ height: Int = 32) -> VideoRequest {
    var request = VideoRequest(width: width, height: height, framesPerSecond: 50)
    request.orientation = orientation
    return request
  }

  private func first(_ source: any VideoSource) throws -> VideoFrame {
    let frames = Collector<VideoFrame>()
    source.start(deliver: { frames.put($0) }, failed: { Issue.record("\($0)") })
    defer { source.stop() }
    return try #require(frames.next())
  }

  @Test(arguments: orientations, [false, true])
  func picturesAndTheirSizeAreTurned(orientation: Orientation, isProgram: Bool) throws {
    var bytes = Array("YUV4MPEG2 W64 H32 F25:1\nFRAME\n".utf8)
    for y in 0..<32 { bytes += (0..<64).map { x in x < 32 && y < 16 ? 235 : 16 } }
    bytes += [UInt8](repeating: 128, count: 1024)
    let path = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString).y4m")
    try Data(bytes).write(to: path)
    defer { try? FileManager.default.removeItem(at: path) }
    let name = isProgram ? "exec:sh -c 'cat \(path.path); sleep 5'" : "file:\(path.path)"
    let source = try VideoSources.open(try #require(VideoDevice(name)), request: request(orientation))
    let frame = try first(source)
    let size = orientation.exchangesSides ? (32, 64) : (64, 32)
    #expect((frame.width, frame.height) == size && (source.info.width, source.info.height) == size)
    #expect(source.info.orientation == orientation)
    #expect(Self.quarter(frame) == Self.expected(orientation), "\(orientation)")
    #expect(source.info.mode.hasPrefix("\(size.0)x\(size.1) at 25 frames/s, Y4M"))
    #expect(orientation.isMirrored == source.info.mode.hasSuffix("mirrored"))
  }

  @Test(arguments: orientations) func theTestPictureIsTurnedAndAsAskedFor(orientation: Orientation) throws {
    let source = try VideoSources.open(.test, request: request(orientation, 160, 120))
    #expect(!source.info.differsFromRequest)
    let frame = try first(source)
    #expect((frame.width, frame.height) == (orientation.exchangesSides ? (120, 160) : (160, 120)))
  }

  /// What is not turned is not copied either.
  @Test func anUprightCameraIsLeftAlone() throws {
    #expect(try !(VideoSources.open(.test, request: request(Orientation())) is TurnedSource))
    #expect(try VideoSources.open(.test, request: request(Orientation(isMirrored: true))) is TurnedSource)
  }

  /// A camera whose JPEG pictures get another size, in mid-stream.
  @Test(arguments: orientations) func aSizeThatChangesIsFollowed(orientation: Orientation) throws {
    let camera = Camera(
      VideoSourceInfo(
        device: "/dev/video0", name: "", width: 64, height: 32, framesPerSecond: 50, pixelFormat: "MJPG",
        request: request(orientation)))
    let source = TurnedSource(camera, orientation)
    let frames = Collector<VideoFrame>()
    source.start(deliver: { frames.put($0) }, failed: { _ in })
    for (width, height) in [(64, 32), (64, 32), (96, 40), (40, 96), (64, 32)] {
      camera.deliver(width: width, height: height)
      let frame = try #require(frames.next())
      let size = orientation.exchangesSides ? (height, width) : (width, height)
      #expect((frame.width, frame.height) == size && (source.info.width, source.info.height) == size)
      #expect(Self.quarter(frame) == Self.expected(orientation))
      #expect(source.info.differsFromRequest == (width != 64))
    }
    #expect(source.damage.dropped == 5)
    source.stop()
  }

  /// Half turns and mirroring are the camera hardware's, quarter turns ours.
  @Test(arguments: [
    (Orientation(), ""), (Orientation(isMirrored: true), "--hflip"), (Orientation(rotation: .half), "--rotation 180"),
    (Orientation(rotation: .half, isMirrored: true), "--vflip"), (Orientation(rotation: .quarter), ""),
    (Orientation(rotation: .threeQuarters, isMirrored: true), ""),
  ])
  func aRibbonCameraTurnsWhatItCan(orientation: Orientation, options: String) {
    let arguments = RaspberryPiCamera.arguments(number: 0, request(orientation)).joined(separator: " ")
    #expect(arguments.contains("--awb auto \(options)\(options.isEmpty ? "" : " ")--output -"), "\(arguments)")
  }
}
