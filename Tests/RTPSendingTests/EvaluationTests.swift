import RTPSending
import TestSupport
import Testing
import Wire

/// Those test cases of RFC 8867 (draft-ietf-rmcat-eval-test) that fit a child with its viewers: their capacities, queues, delays
/// and times. Pictures of at most 1.5 Mbit/s, which the RFC asks for, and steps of our ladder. Left out: 5.3, as nothing but
/// feedback goes back; 5.6 and 5.7, where TCP fills the queue; 5.9, as viewers have no ranks; 6.1 to 6.3.
@Suite struct EvaluationTests {
  /// Seconds that a flow gets to find its rate after each change.
  private static let settling = 10
  /// What a flow waits for in a queue of 300 ms, 95 of 100 packets, milliseconds.
  private static let patience = 150.0

  private static func house(viewers: Int, megabits: Double, delays: [Duration]? = nil) -> House {
    House(
      viewers: viewers, bitsPerSecond: megabits * 1e6, queueMilliseconds: 300,
      delays: delays ?? [Duration](repeating: .milliseconds(50), count: viewers))
  }

  /// The path is used, the flows have like shares, and the queue is short.
  ///
  /// - Parameters:
  ///   - kbps: what the path carries.
  ///   - delay: of the longest way without the queue, milliseconds.
  ///   - factor: between the greatest share and the least.
  private static func expectFair(
    _ seen: House.Seen, of kbps: Double, delay: Double, within factor: Double = 2,
    at location: SourceLocation = #_sourceLocation
  ) {
    let comment = Comment("\(seen) of \(kbps) kbit/s")
    #expect((0.7...1.05).contains(seen.rates.reduce(0, +) / kbps), comment, sourceLocation: location)
    #expect(seen.rates.max()! / seen.rates.min()! < factor, comment, sourceLocation: location)
    #expect(seen.delay95 < delay + patience, comment, sourceLocation: location)
  }

  /// Section 5.1: the path of one flow has 1, 2.5, 0.6 and again 1 Mbit/s.
  @Test func oneFlowFollowsItsPath() {
    var house = Self.house(viewers: 1, megabits: 1)
    house.link.jitterMilliseconds = 30
    for (megabits, seconds) in [(1.0, 40), (2.5, 20), (0.6, 20), (1, 20)] {
      house.link.bitsPerSecond = megabits * 1e6
      house.run(for: .seconds(Self.settling))
      let seen = house.watch(for: seconds - Self.settling)
      // Of the widest, no more than camera and microphone give.
      let best = min(megabits * 1000, 1690)
      Self.expectFair(seen, of: best, delay: 50 + 30)
    }
  }

  /// Section 5.2: two flows share 2, 1, 1.75, 0.5 and again 1 Mbit/s.
  @Test func twoFlowsFollowTheirPath() {
    var house = Self.house(viewers: 2, megabits: 2)
    for megabits in [2.0, 1, 1.75, 0.5, 1] {
      house.link.bitsPerSecond = megabits * 1e6
      house.run(for: .seconds(Self.settling))
      let seen = house.watch(for: 25 - Self.settling)
      Self.expectFair(seen, of: megabits * 1000, delay: 50, within: 3)
    }
  }

  /// Section 5.4: three flows on 3.5 Mbit/s that begin 20 s one after the other.
  @Test func whoComesLaterGetsAShare() {
    var house = Self.house(viewers: 3, megabits: 3.5)
    for viewers in 1...3 {
      for (index, _) in house.calls.enumerated() { house.calls[index].isPaused = index >= viewers }
      house.run(for: .seconds(20))
    }
    let seen = house.watch(for: 60)
    Self.expectFair(seen, of: 3500, delay: 50)
  }

  /// Section 5.5: five flows on 4 Mbit/s with round trips from 20 to 300 ms.
  @Test func aLongRoundTripIsNoDisadvantage() {
    var house = Self.house(
      viewers: 5, megabits: 4, delays: [10, 25, 50, 100, 150].map { .milliseconds($0) })
    house.run(for: .seconds(30))
    let seen = house.watch(for: 60)
    Self.expectFair(seen, of: 4000, delay: 150, within: 2.5)
  }

  /// Section 5.8: one of three flows on 3.5 Mbit/s pauses for 20 s; the others take what it leaves, and give it back.
  @Test func aPausedFlowComesBack() {
    var house = Self.house(viewers: 3, megabits: 3.5)
    house.run(for: .seconds(40))
    house.calls[0].isPaused = true
    house.run(for: .seconds(Self.settling))
    let alone = house.watch(for: 20 - Self.settling)
    #expect((0.7...1.05).contains((alone.rates[1] + alone.rates[2]) / 3380), "\(alone)")
    house.calls[0].isPaused = false
    house.run(for: .seconds(Self.settling))
    let seen = house.watch(for: 40)
    Self.expectFair(seen, of: 3500, delay: 50)
  }
}
