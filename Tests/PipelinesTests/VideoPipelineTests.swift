import DeviceNames
import Devices
import Frames
import Glibc
import Testing
import Wire

@testable import Pipelines

@Suite struct VideoPipelineTests {
  private let delivered = Mailbox<EncodedVideoFrame>(capacity: 64)

  private func withPipeline(_ body: (VideoPipeline) throws -> Void) throws {
    let pipeline = VideoPipeline(
      settings: .init(
        cameraID: "cot", device: .test, request: VideoRequest(width: 160, height: 96, framesPerSecond: 30),
        startKbps: 200),
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
