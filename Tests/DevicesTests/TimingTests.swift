import Frames
import Testing
import Wire

@testable import Devices

struct TimingTests {
  private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  @Test func elementsAreDueAtTheirRateWithoutDrift() {
    var pace = Pace(start: .zero, secondsNumerator: 1001, denominator: 30000)
    var last = Instant.zero
    for _ in 0...30000 { last = pace.next(now: last).deadline }
    #expect(last == .zero + .seconds(1001))
  }

  @Test func beingALittleLateLosesNothing() {
    var pace = Pace(start: .zero, secondsNumerator: 1, denominator: 25)
    _ = pace.next(now: .zero)
    let late = pace.next(now: at(400))
    #expect(late.deadline == at(40))
    #expect(late.skipped == 0)
  }

  @Test func aLongPauseIsSkipped() {
    var pace = Pace(start: .zero, secondsNumerator: 1, denominator: 50)
    _ = pace.next(now: .zero)
    let late = pace.next(now: at(2020))
    #expect(late.deadline == at(2020))
    #expect(late.skipped == 100)
    #expect(pace.next(now: at(2020)).deadline == at(2040))
  }

  @Test func ayearOfSleepDoesNotOverflow() {
    var pace = Pace(start: .zero, secondsNumerator: 1_000_000, denominator: 1_000_000)
    #expect(pace.next(now: .zero + .seconds(86_400 * 365)).skipped == 86_400 * 365)
  }

  /// Whoever makes pictures faster than they are asked for, or in bursts.
  @Test func picturesBeforeTheirTimeAreDropped() {
    var flood = RateBound(rate: 30)
    let taken = (0..<10_000).map { flood.admits(at(1_000_000 + Int64($0))) }
    // Ten seconds at 30, and half a second's at once.
    #expect((300...318).contains(taken.count { $0 }))
    // Evenly, once that is used up.
    let late = taken.dropFirst(5000).indices.filter { taken[$0] }
    #expect(zip(late, late.dropFirst()).allSatisfy { (33...34).contains($1 - $0) })

    var live = RateBound(rate: 33)
    var dropped = (0..<10_000).count { !live.admits(at(Int64($0 * 1000 / 30))) }
    // A network that stands still for 400 ms each second, and then delivers what it has.
    for second in 0..<100 {
      dropped += (0..<30).count { !live.admits(at(400_000 + Int64(second * 1000 + max(400, $0 * 33)))) }
    }
    #expect(dropped == 0)
  }

  @Test func slowSourcesLoseNothingHoweverSlow() {
    var bound = RateBound(rate: 0)
    let taken = [0, 10_000, 3_600_000, 3_600_001].map { bound.admits(at($0)) }
    #expect(taken == [true, true, true, false])
  }

  @Test func silenceIsOverWhenSomethingIsHeard() throws {
    var silence = SilenceWatch(first: .seconds(1), then: .milliseconds(500))
    try silence.quiet(for: .milliseconds(900), device: "x")
    silence.heard()
    try silence.quiet(for: .milliseconds(400), device: "x")
    #expect(throws: DeviceError.self) { try silence.quiet(for: .milliseconds(100), device: "x") }
  }

  @Test func blocksOfAnExactCardAreTwentyMillisecondsApart() {
    var clock = CaptureClock()
    for index in 0..<100 {
      let placed = clock.place(measured: at(Int64(index) * 20), afterGap: false)
      #expect(placed.captureTime == at(Int64(index) * 20))
      #expect(placed.samplePosition == UInt64(index * 960))
    }
  }

  @Test func theStepsOfACoarseCardAreSmoothed() {
    var clock = CaptureClock()
    var random = [0, 7, 13, 19, 3, 11].map { Duration.milliseconds($0) }
    var last: Instant?
    for index in 0..<600 {
      random.append(random.removeFirst())
      let truth = at(Int64(index) * 20)
      let placed = clock.place(measured: truth + random[0], afterGap: false)
      if index > 12, let last {
        let step = placed.captureTime - last
        #expect(step > .milliseconds(18) && step < .milliseconds(22))
        #expect(placed.captureTime >= truth && placed.captureTime - truth < .milliseconds(2))
      }
      last = placed.captureTime
    }
  }

  @Test func aGapCountsAsLostSamples() {
    var clock = CaptureClock()
    _ = clock.place(measured: .zero, afterGap: false)
    let placed = clock.place(measured: at(1020), afterGap: true)
    #expect(placed.captureTime == at(1020))
    #expect(placed.samplePosition == 960 + 48000)
    #expect(clock.place(measured: at(1040), afterGap: false).samplePosition == 960 + 48000 + 960)
  }

  @Test func timeNeverRunsBackAfterAGap() {
    var clock = CaptureClock()
    _ = clock.place(measured: at(100), afterGap: false)
    let placed = clock.place(measured: at(90), afterGap: true)
    #expect(placed.captureTime == at(120))
    #expect(placed.samplePosition == 960)
  }

  @Test func driverSequencesCountOnAcrossTheirWrap() {
    var counter = SequenceCounter()
    #expect(counter.extend(0xffff_fffe) == 0)
    #expect(counter.extend(0xffff_ffff) == 1)
    #expect(counter.extend(2) == 4)
    #expect(counter.extend(2) == 5)
    #expect(counter.extend(0) == 6)
  }

  @Test func theStopSignalEndsAWait() {
    let stop = StopSignal()
    #expect(!stop.isRaised)
    #expect(!stop.wait(until: MonotonicClock.now + .milliseconds(3)))
    stop.raise()
    #expect(stop.wait(until: .distantFuture))
    #expect(stop.isRaised)
  }
}
