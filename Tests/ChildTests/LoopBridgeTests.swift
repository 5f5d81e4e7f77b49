import Frames
import Pipelines
import Synchronization
import Testing
import VideoFormats
import Wire

@testable import Child

/// An event loop that runs when it is told to.
private final class StandingLoop: Sendable {
  private let waiting = Mutex<[@Sendable () -> Void]>([])

  func execute(_ body: @escaping @Sendable () -> Void) {
    waiting.withLock { $0.append(body) }
  }

  func run() {
    while case let bodies = waiting.withLock({ $0 }), !bodies.isEmpty {
      waiting.withLock { $0.removeFirst(bodies.count) }
      for body in bodies { body() }
    }
  }
}

private final class Received: MediaReceiver {
  var pictures: [EncodedVideoFrame] = []
  var sounds = 0
  var levels = 0
  var reports: [Int] = []
  var broken: [Set<VideoEncoding>] = []

  func send(_ frame: EncodedVideoFrame, fromCamera camera: Int) { pictures.append(frame) }
  func send(_ packet: EncodedAudioPacket) { sounds += 1 }
  func send(_ sound: ConvertedSound) { sounds += 1 }
  func levelMeasured() { levels += 1 }
  func framesDropped(fromCamera camera: Int, of encodings: Set<VideoEncoding>) {
    reports.append(camera)
    broken.append(encodings)
  }
}

@Suite struct LoopBridgeTests {
  private let loop = StandingLoop()
  private let received = Received()
  private let bridge: LoopBridge

  init() {
    let loop = loop
    bridge = LoopBridge(cameras: 2) { body in loop.execute(body) }
    bridge.receiver = received
  }

  private func frame(
    _ number: Int, key: Bool = false, of rendition: Rendition = .high, in codec: VideoCodec = .vp8
  ) -> EncodedVideoFrame {
    EncodedVideoFrame(
      data: [], captureTime: .zero + .milliseconds(number), isKeyFrame: key, temporalLayer: 0, isLayerSync: false,
      width: 16, height: 16, codec: codec, rendition: rendition)
  }

  @Test func theOtherRenditionIsNotBrokenWithIt() {
    for number in 0..<65 { bridge.video(frame(number, key: number == 0), camera: 0) }
    loop.run()
    #expect(received.broken == [[VideoEncoding(.vp8, .high)]])
    bridge.video(frame(65, of: .low), camera: 0)
    bridge.video(frame(65), camera: 0)
    loop.run()
    #expect(received.pictures.count == 65 && received.pictures.last?.rendition == .low)
    bridge.video(frame(65, in: .h264), camera: 0)
    loop.run()
    #expect(received.pictures.count == 66 && received.pictures.last?.codec == .h264)
    // A key frame of the one repairs the other no more than it breaks it.
    bridge.video(frame(66, key: true, of: .low), camera: 0)
    bridge.video(frame(67, key: true, in: .h264), camera: 0)
    bridge.video(frame(68), camera: 0)
    loop.run()
    #expect(received.pictures.count == 68)
  }

  @Test func framesArriveInTheirOrder() {
    for number in 0..<100 {
      bridge.video(frame(number, key: number == 0), camera: 0)
      if number % 10 == 9 { loop.run() }
    }
    bridge.levelMeasured()
    loop.run()
    #expect(received.pictures.map(\.captureTime) == (0..<100).map { .zero + .milliseconds($0) })
    #expect(received.levels == 1 && received.reports.isEmpty && bridge.droppedFrames(ofCamera: 0) == 0)
  }

  /// What follows a gap would be decoded on top of the wrong picture, and nobody would notice.
  @Test func afterAStallNothingIsSentBeforeTheKeyFrameThatIsAskedFor() {
    for number in 0..<70 { bridge.video(frame(number, key: number == 0), camera: 0) }
    loop.run()
    #expect(received.pictures.count == 64)
    #expect(received.reports == [0], "asked for once, when the loop runs again")
    bridge.video(frame(70), camera: 0)
    loop.run()
    #expect(received.pictures.count == 64, "builds on a picture that was dropped")
    bridge.video(frame(71, key: true), camera: 0)
    bridge.video(frame(72), camera: 0)
    loop.run()
    #expect(received.pictures.suffix(2).map(\.captureTime) == [.zero + .milliseconds(71), .zero + .milliseconds(72)])
    #expect(bridge.droppedFrames(ofCamera: 0) == 7 && received.reports == [0])
  }

  @Test func aKeyFrameThatIsDroppedIsAskedForAgain() {
    for number in 0..<65 { bridge.video(frame(number, key: number == 64), camera: 0) }
    loop.run()
    for _ in 0..<64 { bridge.levelMeasured() }
    bridge.video(frame(66, key: true), camera: 0)
    loop.run()
    #expect(received.reports == [0, 0])
  }

  @Test func theOtherCameraGoesOn() {
    for number in 0..<65 { bridge.video(frame(number), camera: 0) }
    loop.run()
    bridge.video(frame(0), camera: 1)
    loop.run()
    #expect(received.pictures.count == 65 && bridge.droppedFrames(ofCamera: 1) == 0)
  }
}
