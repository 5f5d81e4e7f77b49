import RTP
import RTPSending
import TestSupport
import Testing
import Wire

/// What is told of the path, for status, metrics and the viewer.
@Suite struct PathStatisticsTests {
  private static func path(of call: Call) -> RTPPathStatistics { call.rig.sender.pathStatistics(now: call.now) }

  @Test func beforeThereIsFeedbackTheQueueAndTheRoundTripAreUnknown() {
    let path = Rig().sender.pathStatistics(now: .zero)
    #expect(path.standingQueue == nil && path.roundTripTime == nil)
    #expect(path.target == 1_500_000 && path.estimate == 1_500_000)
    #expect(path.probesSent == 0 && path.probesSucceeded == 0)
    #expect(!path.isCongested && path.fractionLost == 0)
  }

  @Test func probesOnAFastPathSucceedAndAreCounted() {
    var configuration = RTPSenderConfiguration()
    configuration.startBitrateKbps = 300
    var call = Call(rig: Rig(configuration: configuration), link: Bottleneck(bitsPerSecond: 50_000_000))
    call.run(for: .seconds(10))
    let path = Self.path(of: call)
    #expect(path.probesSucceeded >= 2 && path.probesSucceeded <= path.probesSent)
    #expect(path.estimate >= path.target && path.target > 3_000_000)
    #expect(path.standingQueue.map { $0 < .milliseconds(5) } == true)
    #expect(!path.isCongested)
  }

  @Test func probesBeyondANarrowPathFail() {
    var configuration = RTPSenderConfiguration()
    configuration.startBitrateKbps = 400
    var call = Call(rig: Rig(configuration: configuration), link: Bottleneck(bitsPerSecond: 500_000))
    call.run(for: .seconds(10))
    let path = Self.path(of: call)
    #expect(path.probesSent > path.probesSucceeded)
  }

  @Test func aPathThatBecomesNarrowIsToldWithItsQueueAndTheRateThatDrainsIt() {
    var call = Call(rig: Rig(), link: Bottleneck(bitsPerSecond: 5_000_000))
    call.link.queueMilliseconds = 2000
    call.run(for: .seconds(5))
    call.link.bitsPerSecond = 500_000
    var queue = Duration.zero
    var drained = false
    call.run(for: .seconds(3)) { call in
      let path = Self.path(of: call)
      queue = max(queue, path.standingQueue ?? .zero)
      drained = drained || path.target < path.estimate
    }
    #expect(queue > .milliseconds(100) && queue < .seconds(3))
    #expect(drained)
    #expect(Self.path(of: call).isCongested)
  }

  @Test func lossIsToldAsReportedAndCopiesOfSoundOnlyWhereThePeerTakesThem() {
    var call = Call(rig: Rig(redPayloadType: 63), link: Bottleneck(bitsPerSecond: 50_000_000))
    call.run(for: .seconds(5))
    #expect(Self.path(of: call).soundCopies == 1)
    call.link.loss = 0.1
    call.run(for: .seconds(10))
    let path = Self.path(of: call)
    #expect(path.fractionLost > 0.05 && path.fractionLost < 0.16)
    #expect(path.soundCopies == 2)
    #expect(Rig().sender.pathStatistics(now: .zero).soundCopies == 0)
  }

  @Test func lossOfTheLastTenSecondsIsTheirMeanAndIsForgotten() {
    var call = Call(rig: Rig(), link: Bottleneck(bitsPerSecond: 50_000_000))
    call.link.loss = 0.1
    call.run(for: .seconds(12))
    let loss = call.rig.sender.fractionLost(now: call.now)
    #expect(loss > 0.07 && loss < 0.13)
    call.link.loss = 0
    call.run(for: .seconds(5))
    let half = call.rig.sender.fractionLost(now: call.now)
    #expect(half > 0.02 && half < 0.09)
    call.run(for: .seconds(7))
    #expect(call.rig.sender.fractionLost(now: call.now) == 0)
  }

  @Test func lossIsForgottenWhereNoFeedbackComesAnyMore() {
    var call = Call(rig: Rig(), link: Bottleneck(bitsPerSecond: 50_000_000))
    call.link.loss = 0.3
    call.run(for: .seconds(5))
    #expect(call.rig.sender.fractionLost(now: call.now) > 0.2)
    call.link.isDown = true
    call.run(for: .seconds(14))
    #expect(call.rig.sender.fractionLost(now: call.now) < 0.2)
  }

  @Test func aProbeWaitsForItsTurn() {
    var configuration = RTPSenderConfiguration()
    configuration.startBitrateKbps = 300
    var call = Call(rig: Rig(configuration: configuration), link: Bottleneck(bitsPerSecond: 50_000_000))
    call.rig.sender.mayProbe = false
    call.run(for: .seconds(2))
    #expect(call.rig.sender.wantsProbe)
    #expect(Self.path(of: call).probesSent == 0)
    call.rig.sender.mayProbe = true
    call.run(for: .milliseconds(200))
    #expect(Self.path(of: call).probesSent >= 1)
  }
}
