import Codecs
import DeviceNames
import Devices
import Frames
import Glibc
import Picture
import Testing
import VideoFormats
import Wire

@testable import Pipelines

@Suite struct VideoPipelineTests {
  private let delivered = Mailbox<EncodedVideoFrame>(capacity: 64)

  private func withPipeline(
    _ device: VideoDevice = .test, _ orientation: Orientation = Orientation(), width: Int = 160, height: Int = 96,
    body: (VideoPipeline) throws -> Void
  ) throws {
    var request = VideoRequest(width: width, height: height, framesPerSecond: 30)
    request.orientation = orientation
    let pipeline = VideoPipeline(
      settings: .init(cameraID: "cot", device: device, request: request, startKbps: 200),
      deliver: { delivered.put($0) }, cameraChanged: { _ in })
    pipeline.start()
    defer { pipeline.stop() }
    try body(pipeline)
  }

  private func next() throws -> EncodedVideoFrame {
    try #require(delivered.take(until: MonotonicClock.now + .seconds(20)))
  }

  private func wait(until isTrue: () -> Bool) -> Bool {
    for _ in 0..<2000 {
      if isTrue() { return true }
      usleep(10_000)
    }
    return false
  }

  @Test func theEncoderIsReadyBeforeAnybodyComes() throws {
    try withPipeline { pipeline in
      #expect(wait { pipeline.isEncoderReady })
      // Nobody gets that picture, and no more are made.
      #expect(delivered.take(until: MonotonicClock.now + .milliseconds(200)) == nil)
      #expect(pipeline.counters.encoded == 0)
      pipeline.setDemand(capturing: true, encoding: true)
      let first = try next()
      #expect(first.isKeyFrame)
    }
  }

  @Test func theFirstPictureIsEncodedWhileTheConnectionIsMade() throws {
    try withPipeline { pipeline in
      pipeline.setDemand(capturing: true, encoding: false)
      #expect(wait { pipeline.counters.encoded == 1 })
      // One is enough, and nobody is there to have it.
      #expect(wait { pipeline.counters.captured > 3 })
      #expect(pipeline.counters.encoded == 1 && delivered.take(until: MonotonicClock.now) == nil)
    }
  }

  @Test func whoConnectsGetsOneKeyFrameAndWhatBuildsOnIt() throws {
    try withPipeline { pipeline in
      pipeline.setDemand(capturing: true, encoding: false)
      #expect(wait { pipeline.counters.encoded == 1 })
      pipeline.requestKeyFrameAtOnce()
      pipeline.setDemand(capturing: true, encoding: true)
      let frames = try (0..<4).map { _ in try next() }
      #expect(frames.map(\.isKeyFrame) == [true, false, false, false])
      #expect(zip(frames, frames.dropFirst()).allSatisfy { $0.captureTime < $1.captureTime })
    }
  }

  @Test func whoConnectsAtOnceGetsOneKeyFrameToo() throws {
    try withPipeline { pipeline in
      pipeline.setDemand(capturing: true, encoding: false)
      pipeline.requestKeyFrameAtOnce()
      pipeline.setDemand(capturing: true, encoding: true)
      let frames = try (0..<3).map { _ in try next() }
      #expect(frames.map(\.isKeyFrame) == [true, false, false])
    }
  }

  @Test func whoeverAsksAllShareAKeyFrameEach300Milliseconds() throws {
    try withPipeline { pipeline in
      pipeline.setDemand(capturing: true, encoding: true)
      var keyFrames: [Instant] = []
      for _ in 0..<45 {
        let frame = try next()
        if frame.isKeyFrame { keyFrames.append(frame.captureTime) }
        pipeline.requestKeyFrame()
      }
      #expect((3...6).contains(keyFrames.count))
      // From encoding to encoding; a frame may have waited for its turn by half an interval.
      #expect(zip(keyFrames, keyFrames.dropFirst()).allSatisfy { $1 - $0 > .milliseconds(280) })
    }
  }

  @Test func afterTheLastViewerNothingOfItIsLeft() throws {
    try withPipeline { pipeline in
      pipeline.setDemand(capturing: true, encoding: true)
      _ = try next()
      pipeline.setDemand(capturing: false, encoding: false)
      let encoded = pipeline.counters.encoded
      pipeline.setDemand(capturing: true, encoding: false)
      #expect(wait { pipeline.counters.encoded > encoded })
      pipeline.setDemand(capturing: false, encoding: false)
      while delivered.take(until: MonotonicClock.now) != nil {}
      pipeline.requestKeyFrameAtOnce()
      pipeline.setDemand(capturing: true, encoding: true)
      let first = try next()
      #expect(first.isKeyFrame)
    }
  }

  @Test func whileItIsPausedACardTakesThePlaceOfThePicture() throws {
    try withPipeline { pipeline in
      pipeline.setDemand(capturing: true, encoding: true)
      _ = try next()
      pipeline.setPaused(true)
      #expect(pipeline.camera.isOff)
      // What was being encoded is over after two cards.
      let before = pipeline.counters.encoded
      #expect(wait { pipeline.counters.encoded >= before + 2 })
      let captured = pipeline.counters.captured
      let cards = pipeline.counters.encoded
      #expect(wait { pipeline.counters.encoded >= cards + 2 })
      #expect(pipeline.counters.captured == captured && pipeline.camera.isOff)
      #expect(pipeline.takeFrame(within: .milliseconds(300)) == nil)
      pipeline.setPaused(false)
      #expect(wait { pipeline.counters.captured > captured })
      #expect(wait { if case .running = pipeline.camera { true } else { false } })
    }
  }

  // MARK: Turned

  @Test func aPictureThatIsTurnedHasItsSizeEverywhere() throws {
    try withPipeline(.test, Orientation(rotation: .quarter)) { pipeline in
      #expect(pipeline.pictureSize == (96, 160))
      pipeline.setDemand(capturing: true, encoding: true)
      let frame = try next()
      #expect((frame.width, frame.height) == (96, 160))
      let still = try #require(pipeline.takeFrame(within: .seconds(20)))
      #expect((still.width, still.height) == (96, 160))
      #expect(pipeline.pictureSize == (96, 160))
      let counters = pipeline.renditionCounters[.vp8][.high]
      #expect((counters.width, counters.height) == (96, 160))
    }
  }

  /// A card is there to be read: it is as large as the camera's pictures, and upright.
  @Test(arguments: [(Orientation.Rotation.quarter, true), (.half, false), (.none, true)])
  func theCardIsNeverTurned(rotation: Orientation.Rotation, isMirrored: Bool) throws {
    let missing = try #require(VideoDevice("file:/no/such/clip.y4m"))
    let orientation = Orientation(rotation: rotation, isMirrored: isMirrored)
    try withPipeline(missing, orientation, width: 480, height: 360) { pipeline in
      pipeline.setDemand(capturing: true, encoding: true)
      var encoded = try next()
      while !encoded.isKeyFrame { encoded = try next() }
      let shown = try VP8Decoder().decode(encoded.data)
      guard case .missing(let error) = pipeline.camera else {
        Issue.record("it is there")
        return
      }
      let made = VideoPipeline.card(for: .missing(error), settings: pipeline.settings)
      // What to do about it is for viewers to say: a shell command is of no use on a phone.
      #expect(error.advice != nil && made.lines.count == 1 && made.lines.first?.contains(error.summary) == true)
      let card = made.draw(captureTime: .zero, sequence: 0, unixNanoseconds: MonotonicClock.unixNanoseconds)
      #expect((shown.width, shown.height) == orientation.size(480, 360))
      #expect((card.width, card.height) == (shown.width, shown.height))
      // Without the clock, in hundredths.
      func difference(isMirrored: Bool) -> Int {
        (0..<card.height * 3 / 4).reduce(0) { sum, y in
          (0..<card.width).reduce(sum) { sum, x in
            let column = isMirrored ? card.width - 1 - x : x
            return sum + abs(Int(shown.y[y * shown.strideY + x]) - Int(card.y[y * card.strideY + column]))
          }
        } * 100 / (card.width * card.height)
      }
      #expect(difference(isMirrored: false) < 600)
      #expect(2 * difference(isMirrored: true) > 3 * difference(isMirrored: false))
    }
  }

  // MARK: Night

  @Test func brightnessIsMeasuredWhileNobodyWatchesAndNoFurtherPictureIsMade() throws {
    try withPipeline { pipeline in
      #expect(wait { pipeline.isEncoderReady })
      #expect(pipeline.brightness == nil && !pipeline.isWatched)
      pipeline.requestBrightness()
      #expect(wait { pipeline.brightness != nil })
      let first = try #require(pipeline.brightness)
      #expect((0.2...0.8).contains(first.level))
      let captured = pipeline.counters.captured
      usleep(300_000)
      #expect(pipeline.counters.captured <= captured + 1)
      pipeline.requestBrightness()
      #expect(wait { pipeline.brightness != first })
      #expect(pipeline.counters.encoded == 0)
    }
  }

  /// The filter compares a picture with those before it, so that it begins with one that has none.
  @Test func nightfallAndMorningComeWithAKeyFrame() throws {
    try withPipeline { pipeline in
      pipeline.setDemand(capturing: true, encoding: true)
      while try !next().isKeyFrame {}
      for isNight in [true, false] {
        pipeline.setNight(isNight)
        let later = try (0..<10).map { _ in try next() }
        #expect(later.filter(\.isKeyFrame).count == 1)
        pipeline.setNight(isNight)
        #expect(try (0..<5).allSatisfy { _ in try !next().isKeyFrame })
      }
    }
  }
}

extension DeviceStatus {
  fileprivate var isOff: Bool { if case .off = self { true } else { false } }
}
