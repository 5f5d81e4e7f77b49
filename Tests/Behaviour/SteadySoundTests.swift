import PeerConnection
import RTPReceiving
import Simulation
import Testing
import Wire

/// Sound that waits for 0.4 s, for a listener whose Wi-Fi has short gaps.
@Suite struct SteadySoundTests {
  private static let steady = Duration.milliseconds(400)

  private static func pair(steady: Duration) throws -> SimulatedPair {
    let pair = try SimulatedPair.connected(seed: 1, streaming: true) { side, configuration in
      if side == .parent { configuration.steadyDelay = steady }
    }
    pair.link = .init(delay: .milliseconds(10))
    pair.run(for: .seconds(3))
    return pair
  }

  /// Sound that was made up over blackouts of 300 ms, each with some seconds between.
  private static func madeUp(_ pair: SimulatedPair) -> Int {
    let before = pair.viewer.concealments + pair.viewer.silences
    for _ in 0..<5 {
      pair.link.isCut = true
      pair.run(for: .milliseconds(300))
      pair.link.isCut = false
      pair.run(for: .milliseconds(3300))
    }
    return pair.viewer.concealments + pair.viewer.silences - before
  }

  @Test func aBlackoutOf300MillisecondsIsNotHeard() throws {
    let (steady, prompt) = (try Self.pair(steady: Self.steady), try Self.pair(steady: .zero))
    let seams = steady.viewer.discontinuities
    let (madeUp, otherwise) = (Self.madeUp(steady), Self.madeUp(prompt))
    Measured.note("five blackouts of 300 ms: \(madeUp) made up, \(otherwise) without")
    #expect(madeUp == 0)
    #expect(otherwise > 20)
    #expect(steady.viewer.discontinuities == seams && steady.viewer.brokenSounds == 0)
  }

  @Test func itMayBeSwitchedOnAndOffMeanwhile() throws {
    let pair = try Self.pair(steady: .zero)
    let sound = { try #require(pair.parent.statistics(now: pair.now).inboundRTP.first { $0.kind == .audio }) }
    #expect(try sound().audioTargetDelay ?? .zero <= .milliseconds(60))
    pair.parent.setSteadyDelay(Self.steady)
    pair.run(for: .seconds(1))
    #expect(try sound().audioTargetDelay == Self.steady)
    let waiting = try #require(try sound().audioDelay)
    #expect(waiting >= .milliseconds(370) && waiting <= .milliseconds(440))
    #expect(Self.madeUp(pair) == 0)
    pair.parent.setSteadyDelay(.zero)
    pair.run(for: .seconds(4))
    // What loss needs, which there was a lot of.
    #expect(try sound().audioDelay ?? .zero <= .milliseconds(130))
    #expect(pair.viewer.brokenSounds == 0)
  }
}
