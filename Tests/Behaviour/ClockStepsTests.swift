import PeerConnection
import RTPSending
import Simulation
import Testing
import Wire

@Suite struct ClockStepsTests {
  /// Network time sets the board's clock, an hour forward or back; only what names the time of day may notice.
  @Test(arguments: [3600, -3600, 86_400 * 365 * 20] as [Int64])
  func aStepOfTheWallClockChangesTheTimeOfDayAlone(seconds: Int64) throws {
    let pair = try SimulatedPair.connected(streaming: true)
    pair.run(for: .seconds(3))
    let start = pair.now
    let before = try #require(pair.viewer.pictures.last?.captureTime)
    pair.child.setWallClock(
      WallClockReference(
        instant: .zero, unixNanoseconds: SimulatedPair.unixNanosecondsAtZero + seconds * 1_000_000_000), now: pair.now)
    pair.drain()
    pair.run(for: .seconds(6))
    #expect(pair.viewer.longestFreeze(from: start, to: pair.now) <= .milliseconds(50))
    #expect(pair.viewer.concealments == 0)
    #expect(pair.pliCount == 0)
    let roundTrip = try #require(pair.child.statistics(now: pair.now).outboundRTP.first?.roundTripTime)
    #expect((0.005...0.03).contains(roundTrip))
    // The parent learns the new time with the next report.
    let after = try #require(pair.viewer.pictures.last?.captureTime)
    let gone: Duration = after - before
    let moved = gone - .seconds(seconds)
    #expect((.seconds(5)...(.seconds(7))).contains(moved), "moved by \(moved)")
  }

  /// Both machines sleep, or one process is stopped: time jumps for all timers at once.
  @Test(arguments: [2, 10, 25] as [Int64])
  func aShortSleepIsSurvivedWithoutAStorm(seconds: Int64) throws {
    let pair = try SimulatedPair.connected(streaming: true)
    let outputs = pair.outputCount
    pair.sleep(for: .seconds(seconds))
    let storm = pair.outputCount - outputs
    // A second of sound is made up before there is silence.
    #expect(storm <= 80)
    let picture = try #require(pair.timeToNextPicture(limit: .seconds(3)))
    Measured.note("sleep of \(seconds) s: \(storm) outputs at once, picture after \(picture)")
    #expect(pair.run(until: { pair.isConnected }, limit: .seconds(3)))
    pair.run(for: .seconds(5))
    #expect(pair.isConnected)
    #expect(pair.viewer.brokenPictures == 0)
  }

  @Test(arguments: [60, 3600, 86_400 * 30] as [Int64])
  func aLongSleepEndsTheConnectionCleanly(seconds: Int64) throws {
    let pair = try SimulatedPair.connected(streaming: true)
    let outputs = pair.outputCount
    pair.sleep(for: .seconds(seconds))
    pair.run(for: .seconds(1))
    #expect(pair.child.state == .failed && pair.parent.state == .failed)
    #expect(pair.outputCount - outputs <= 60)
    #expect(pair.child.nextDeadline == nil && pair.parent.nextDeadline == nil)
  }

  /// A viewer's lid is closed and opened again.
  @Test func aViewerThatSleepsForAWhileComesBack() throws {
    let pair = try SimulatedPair.connected(streaming: true)
    pair.isParentSuspended = true
    pair.run(for: .seconds(20))
    pair.isParentSuspended = false
    let picture = try #require(pair.timeToNextPicture(limit: .seconds(5)))
    Measured.note("viewer slept for 20 s: picture after \(picture)")
    #expect(picture <= .seconds(1))
    #expect(pair.run(until: { pair.isConnected }, limit: .seconds(3)))
    pair.run(for: .seconds(3))
    #expect(pair.viewer.brokenPictures == 0)
  }

  /// Two clocks of one machine may differ by a little; time that runs back for a moment does nothing.
  @Test func timeThatRunsBackForAMomentChangesNothing() throws {
    let pair = try SimulatedPair.connected(streaming: true)
    for _ in 0..<50 {
      let earlier = pair.now - .milliseconds(300)
      pair.child.handleTimeout(now: earlier)
      pair.parent.handleTimeout(now: earlier)
      if let datagram = pair.arrivedAtParent.last {
        pair.parent.handle(datagram: datagram, from: pair.childAddress, to: pair.parentAddress, now: earlier)
      }
      pair.drain()
      pair.run(for: .milliseconds(100))
    }
    #expect(pair.isConnected)
    #expect(pair.viewer.brokenPictures == 0)
    #expect(pair.viewer.pictures.map(\.number) == Array(0..<pair.viewer.pictures.count))
  }
}
