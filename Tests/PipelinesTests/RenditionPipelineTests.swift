import Codecs
import DeviceNames
import Devices
import Frames
import Glibc
import Testing
import VideoFormats
import Wire

@testable import Pipelines

/// The renditions of a test camera, with libvpx.
@Suite struct RenditionPipelineTests {
  private let delivered = Mailbox<EncodedVideoFrame>(capacity: 256)

  private func withPipeline(_ body: (VideoPipeline) throws -> Void) throws {
    let pipeline = VideoPipeline(
      settings: .init(
        cameraID: "cot", device: .test, request: VideoRequest(width: 1280, height: 720, framesPerSecond: 30),
        startKbps: 1000),
      deliver: { delivered.put($0) }, cameraChanged: { _ in })
    pipeline.start()
    defer { pipeline.stop() }
    try body(pipeline)
  }

  private func targets(high: Int? = nil, middle: Int? = nil, low: Int? = nil, isStillsOnly: Bool = false)
    -> PerRendition<RenditionTarget?>
  {
    PerRendition { rendition in
      switch rendition {
      case .high: high.map { RenditionTarget(kbps: $0) }
      case .middle: middle.map { RenditionTarget(kbps: $0) }
      case .low: low.map { RenditionTarget(kbps: $0, isStillsOnly: isStillsOnly) }
      case .refreshed: nil
      }
    }
  }

  private func next(_ rendition: Rendition, in codec: VideoCodec = .vp8) throws -> EncodedVideoFrame {
    while true {
      let frame = try #require(delivered.take(until: MonotonicClock.now + .seconds(20)))
      if frame.encoding == VideoEncoding(codec, rendition) { return frame }
    }
  }

  private func wait(until isTrue: () -> Bool) -> Bool {
    for _ in 0..<2000 {
      if isTrue() { return true }
      usleep(10_000)
    }
    return false
  }

  @Test func eachRenditionHasItsSizeAndBeginsWithAKeyFrameThatDecodes() throws {
    try withPipeline { pipeline in
      pipeline.setTargets(targets(high: 1000, middle: 300, low: 80))
      pipeline.setDemand(capturing: true, encoding: true)
      for (rendition, size) in [(Rendition.high, (1280, 720)), (.middle, (640, 360)), (.low, (320, 180))] {
        let decoder = try VP8Decoder(threads: 1)
        while delivered.take(until: MonotonicClock.now) != nil {}
        pipeline.requestKeyFrameAtOnce(of: rendition)
        var frame = try next(rendition)
        while !frame.isKeyFrame { frame = try next(rendition) }
        for _ in 0..<5 {
          let picture = try decoder.decode(frame.data)
          #expect((picture.width, picture.height) == size)
          frame = try next(rendition)
        }
      }
      #expect(Set(pipeline.runningEncoders[.vp8]) == [.low, .middle, .high])
    }
  }

  /// Both at once, each with its own key frames and rates; nothing of a codec that nobody is on.
  @Test func eachCodecHasItsOwnEncoders() throws {
    try withPipeline { pipeline in
      pipeline.setTargets(targets(high: 1000))
      pipeline.setDemand(capturing: true, encoding: true)
      for _ in 0..<5 { _ = try next(.high) }
      #expect(pipeline.runningEncoders[.h264].isEmpty && pipeline.renditionCounters[.h264][.high].encoded == 0)
      pipeline.setTargets(targets(high: 1000, low: 80), of: .h264)
      for (rendition, size) in [(Rendition.high, (1280, 720)), (.low, (320, 180))] {
        let decoder = try OpenH264Decoder()
        while delivered.take(until: MonotonicClock.now) != nil {}
        pipeline.requestKeyFrameAtOnce(of: rendition, in: .h264)
        var frame = try next(rendition, in: .h264)
        while !frame.isKeyFrame { frame = try next(rendition, in: .h264) }
        for _ in 0..<5 {
          let picture = try decoder.decode(frame.data)
          #expect((picture.width, picture.height) == size)
          frame = try next(rendition, in: .h264)
        }
      }
      #expect(pipeline.renditionCounters[.vp8][.high].keyFrames == 1, "nobody who watches VP8 pays for it")
      pipeline.setTargets(targets(), of: .h264)
      #expect(wait { pipeline.runningEncoders[.h264].isEmpty })
      // What it had made before.
      while delivered.take(until: MonotonicClock.now) != nil {}
      pipeline.setTargets(targets(high: 1000), of: .h264)
      pipeline.setTargets(targets())
      let first = try next(.high, in: .h264)
      #expect(first.isKeyFrame)
      let encoded = pipeline.renditionCounters[.vp8][.high].encoded
      for _ in 0..<10 { _ = try next(.high, in: .h264) }
      #expect(pipeline.renditionCounters[.vp8][.high].encoded == encoded)
    }
  }

  /// The first picture waits for its viewer, and what follows refers to it.
  @Test func aViewerOfH264WhoJoinsFindsAPicture() throws {
    try withPipeline { pipeline in
      pipeline.setDemand(capturing: true, encoding: false, codec: .h264)
      #expect(wait { pipeline.renditionCounters[.h264][.high].encoded == 1 })
      pipeline.setTargets(targets())
      pipeline.setTargets(targets(high: 1000), of: .h264)
      pipeline.setDemand(capturing: true, encoding: true, codec: .h264)
      let decoder = try OpenH264Decoder()
      for _ in 0..<5 { _ = try decoder.decode(next(.high, in: .h264).data) }
      #expect(delivered.take(until: MonotonicClock.now)?.codec != .vp8)
      #expect(pipeline.renditionCounters[.h264][.high].keyFrames <= 2)
    }
  }

  @Test func anEncoderIsGoneWhenNobodyIsOnItAndBeginsAnewWithAKeyFrame() throws {
    try withPipeline { pipeline in
      pipeline.setTargets(targets(high: 1000, low: 80))
      pipeline.setDemand(capturing: true, encoding: true)
      let first = try next(.low)
      #expect(first.isKeyFrame)
      pipeline.setTargets(targets(high: 1000))
      #expect(wait { pipeline.runningEncoders[.vp8] == [.high] })
      let encoded = pipeline.renditionCounters[.vp8][.low].encoded
      usleep(300_000)
      #expect(pipeline.renditionCounters[.vp8][.low].encoded == encoded)
      while delivered.take(until: MonotonicClock.now) != nil {}
      pipeline.setTargets(targets(high: 1000, low: 80))
      let again = try next(.low)
      #expect(again.isKeyFrame)
    }
  }

  @Test func withoutAViewerOfItTheCamerasOwnPictureIsNotEncoded() throws {
    try withPipeline { pipeline in
      pipeline.setTargets(targets(low: 80))
      pipeline.setDemand(capturing: true, encoding: true)
      for _ in 0..<5 { _ = try next(.low) }
      #expect(pipeline.renditionCounters[.vp8][.high].encoded == 0)
      // A viewer with a better path comes.
      pipeline.setTargets(targets(high: 1000, low: 80))
      let high = try next(.high)
      #expect(high.isKeyFrame)
    }
  }

  @Test func aKeyFrameOfOneRenditionIsNoneOfAnother() throws {
    try withPipeline { pipeline in
      pipeline.setTargets(targets(high: 1000, middle: 300))
      pipeline.setDemand(capturing: true, encoding: true)
      #expect(wait { pipeline.renditionCounters[.vp8][.middle].keyFrames == 1 })
      for round in 2...4 {
        pipeline.requestKeyFrame(of: .middle)
        #expect(wait { pipeline.renditionCounters[.vp8][.middle].keyFrames == UInt64(round) })
      }
      #expect(pipeline.renditionCounters[.vp8][.high].keyFrames == 1)
    }
  }

  @Test func aStillOfTheLowRenditionFitsTheWeakestPath() throws {
    try withPipeline { pipeline in
      pipeline.setTargets(targets(low: 40, isStillsOnly: true))
      pipeline.setDemand(capturing: true, encoding: true)
      let first = try next(.low)
      #expect(first.isKeyFrame)
      usleep(300_000)
      #expect(pipeline.counters.encoded == 1)
      pipeline.requestKeyFrame(of: .low, spacing: .milliseconds(500))
      let second = try next(.low)
      #expect(second.isKeyFrame && second.captureTime - first.captureTime > .milliseconds(450))
      // What the allocator reckons with.
      #expect([first, second].allSatisfy { $0.data.count < 5000 }, "\(first.data.count) \(second.data.count) bytes")
    }
  }
}
