import Testing
import Wire

@testable import Pipelines

@Suite struct RTPTimelineTests {
  @Test func followsTheSendersClockAndNotTheJitterOfArrival() {
    var timeline = RTPTimeline(clockRate: 90_000)
    let start = Instant.zero + .seconds(100)
    #expect(timeline.instant(of: 1000, arrival: start) == start)
    #expect(timeline.instant(of: 1000 + 3000, arrival: start + .milliseconds(90)) == start + .nanoseconds(33_333_333))
  }

  @Test func goesOnAcrossTheWrapOfTimestamps() {
    var timeline = RTPTimeline(clockRate: 48_000)
    let start = Instant.zero + .seconds(100)
    _ = timeline.instant(of: UInt32.max - 479, arrival: start)
    #expect(timeline.instant(of: 480, arrival: start + .milliseconds(20)) == start + .milliseconds(20))
  }

  @Test func neverRunsOutInADayOfPictures() {
    var timeline = RTPTimeline(clockRate: 90_000)
    var arrival = Instant.zero
    var timestamp: UInt32 = 0
    _ = timeline.instant(of: timestamp, arrival: arrival)
    for _ in 0..<86_400 {
      arrival += .seconds(1)
      timestamp &+= 90_000
      #expect(timeline.instant(of: timestamp, arrival: arrival) == arrival)
    }
  }

  @Test func beginsAnewWithAnotherStream() {
    var timeline = RTPTimeline(clockRate: 90_000)
    _ = timeline.instant(of: 0, arrival: .zero)
    let later = Instant.zero + .seconds(60)
    #expect(timeline.instant(of: 3_000_000_000, arrival: later) == later)
  }
}
