import Testing
import Wire

@testable import Pipelines

@Suite struct FreezeDetectorTests {
  private static func detector(intervals: [Int]) -> FreezeDetector {
    var detector = FreezeDetector()
    var now = Instant.zero
    detector.picture(at: now)
    for interval in intervals {
      now += .milliseconds(interval)
      detector.picture(at: now)
    }
    return detector
  }

  @Test func evenPicturesAreNoFreeze() {
    #expect(Self.detector(intervals: Array(repeating: 33, count: 100)).count == 0)
  }

  @Test func onePictureLeftOutIsNoFreeze() {
    #expect(Self.detector(intervals: Array(repeating: 33, count: 40) + [66, 33]).count == 0)
  }

  /// 33 + 150 ms is the limit at 30 pictures a second.
  @Test func pauseBeyondTheLimitIsOneFreezeOfItsLength() {
    let detector = Self.detector(intervals: Array(repeating: 33, count: 40) + [182, 33, 400, 33])
    #expect(detector.count == 1)
    #expect(detector.total == .milliseconds(400))
  }

  @Test func anotherConnectionsFirstPictureIsNoFreeze() {
    var detector = Self.detector(intervals: Array(repeating: 33, count: 40))
    detector.pause()
    detector.picture(at: .zero + .seconds(60))
    #expect(detector.count == 0)
  }
}

@Suite struct LatencyHistogramTests {
  @Test func percentilesOfAKnownSeries() {
    var histogram = LatencyHistogram()
    #expect(histogram.percentile(0.5) == nil)
    for milliseconds in 1...100 { histogram.add(milliseconds: milliseconds) }
    #expect(histogram.percentile(0.5) == 50)
    #expect(histogram.percentile(0.95) == 95)
    #expect(histogram.percentile(1) == 100)
  }

  @Test func extremesCountAtTheEnds() {
    var histogram = LatencyHistogram()
    histogram.add(milliseconds: -5)
    histogram.add(milliseconds: 1_000_000)
    #expect(histogram.percentile(0.5) == 0)
    #expect(histogram.percentile(1) == 4000)
    histogram.reset()
    #expect(histogram.total == 0)
  }
}
