import Codecs
import Testing

@Suite struct SpeedGovernorTests {
  private let interval: Duration = .milliseconds(33)

  /// Feeds frames whose time depends on the speed; returns the speeds it went through.
  private func run(_ governor: inout SpeedGovernor, frames: Int, _ milliseconds: (Int) -> Double) -> [Int] {
    var speeds: [Int] = []
    for _ in 0..<frames {
      let time = Duration.nanoseconds(Int64(milliseconds(governor.speed) * 1e6))
      if let speed = governor.record(encodingTime: time) { speeds.append(speed) }
    }
    return speeds
  }

  @Test func aGoodMachineStaysWhereItIs() {
    var governor = SpeedGovernor(frameInterval: interval)
    #expect(run(&governor, frames: 3000) { _ in 12 }.isEmpty)
    #expect(governor.speed == SpeedGovernor.defaultSpeed)
  }

  @Test func aBusyEncoderSpeedsUpWithinASecond() {
    var governor = SpeedGovernor(frameInterval: interval)
    #expect(run(&governor, frames: 30) { _ in 24 } == [-9])
  }

  @Test func anOverloadedOneSpeedsUpAtOnceAndStopsWhenItHolds() {
    var governor = SpeedGovernor(frameInterval: interval)
    let speeds = run(&governor, frames: 300) { $0 > -10 ? 40 : 15 }
    #expect(speeds == [-10])
  }

  @Test func itNeverLeavesItsRange() {
    var governor = SpeedGovernor(frameInterval: interval)
    _ = run(&governor, frames: 1000) { _ in 100 }
    #expect(governor.speed == SpeedGovernor.fastest)
    _ = run(&governor, frames: 30_000) { _ in 1 }
    #expect(governor.speed == SpeedGovernor.slowest)
  }

  @Test func anIdleOneSlowsDownOnlyAfterTenSeconds() {
    var governor = SpeedGovernor(frameInterval: interval)
    #expect(run(&governor, frames: 299) { _ in 5 }.isEmpty)
    #expect(run(&governor, frames: 1) { _ in 5 } == [-7])
  }

  @Test func aTryThatFailsIsRepeatedEverMoreRarely() {
    var governor = SpeedGovernor(frameInterval: interval)
    let steps = run(&governor, frames: 9000) { $0 > -8 ? 25 : 7 }
    #expect(steps.count <= 10)
    #expect(Set(steps) == [-7, -8])
  }

  @Test func oneStallChangesNothing() {
    var governor = SpeedGovernor(frameInterval: interval)
    var stalls = 0
    let speeds = run(&governor, frames: 600) { _ in
      stalls += 1
      return stalls % 30 == 15 ? 400 : 12
    }
    #expect(speeds.isEmpty)
  }
}
