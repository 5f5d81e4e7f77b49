import TestSupport
import Testing
import Wire

@testable import RTPSending

/// Whether loss is a radio's or that of a path which carries no more is found out by sending less.
@Suite struct LossBasedRateTests {
  /// A sender that always sends what it may, with feedback every 50 ms.
  private struct Run {
    var rate: LossBasedRate
    var now = Instant.zero
    var random: SeededGenerator
    /// Of each feedback.
    private(set) var rates: [Double] = []
    private(set) var lost = 0.0
    private(set) var total = 0.0

    init(seed: UInt64 = 1) {
      rate = LossBasedRate(bitsPerSecond: 2e6, minimum: 3e4)
      random = SeededGenerator(seed: seed)
    }

    /// - Parameter loses: whether a packet is lost at this rate of sending.
    mutating func run(
      seconds: Double, maximum: Double = 2e6, hasQueue: Bool = false,
      _ loses: (_ sending: Double, _ random: inout SeededGenerator) -> Bool
    ) {
      for _ in 0..<Int(seconds * 20) {
        now += .milliseconds(50)
        let sending = min(rate.bitsPerSecond, maximum)
        let packets = max(2, Int(sending * 0.05 / 9600))
        var fates: [Bool] = []
        for _ in 0..<packets { fates.append(loses(sending, &random)) }
        let lost = Double(fates.count { $0 })
        let runs = zip([false] + fates, fates).count { !$0 && $1 }
        self.lost += lost
        total += Double(packets)
        let tally = LossTally(
          lost: lost, total: Double(packets), runs: Double(runs),
          arrivedBits: sending * 0.05 * (1 - lost / Double(packets)), hasQueue: hasQueue)
        rate.add(tally, target: sending, maximum: maximum, roundTripTime: .milliseconds(20), now: now)
        rates.append(rate.bitsPerSecond)
      }
    }

    /// Of the last seconds.
    func mean(last seconds: Int) -> Double { rates.suffix(seconds * 20).reduce(0, +) / Double(seconds * 20) }
  }

  private static func happens(_ chance: Double, _ random: inout SeededGenerator) -> Bool {
    Double.random(in: 0..<1, using: &random) < chance
  }

  @Test(arguments: [0.05, 0.1, 0.2, 0.3], 1...5 as ClosedRange<UInt64>)
  func aRadiosLossCostsNoMoreThanALook(loss: Double, seed: UInt64) {
    var run = Run(seed: seed)
    run.run(seconds: 60) { Self.happens(loss, &$1) }
    #expect(run.mean(last: 50) > 1.6e6, "\(run.mean(last: 50))")
    #expect(run.rates.contains { $0 < 1.9e6 * (1 - loss) }, "nobody has looked")
  }

  @Test(arguments: [3.0, 10], 1...5 as ClosedRange<UInt64>)
  func lossInRunsIsARadios(length: Double, seed: UInt64) {
    var run = Run(seed: seed)
    var bursts = GilbertLoss(rate: 0.1, meanBurst: length)
    run.run(seconds: 60) { bursts.loses(&$1) }
    #expect(run.mean(last: 50) > 1.2e6, "\(run.mean(last: 50))")
  }

  @Test func littleLossIsNotLookedInto() {
    var run = Run()
    run.run(seconds: 30) { Self.happens(0.02, &$1) }
    #expect(run.mean(last: 29) > 1.95e6)
  }

  /// What is over it is lost, and nothing else.
  @Test(arguments: [1.5e6, 1e6, 4e5, 1.5e5], 1...3 as ClosedRange<UInt64>)
  func aPolicersLimitIsFollowed(limit: Double, seed: UInt64) {
    var run = Run(seed: seed)
    run.run(seconds: 10) { Self.happens(max(0, 1 - limit / $0), &$1) }
    let before = (run.lost, run.total)
    run.run(seconds: 50) { Self.happens(max(0, 1 - limit / $0), &$1) }
    #expect((0.7...1.15).contains(run.mean(last: 50) / limit), "\(run.mean(last: 50) / limit)")
    #expect((run.lost - before.0) / (run.total - before.1) < 0.05)
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>) func aPolicerOnALossyRadioIsFollowedToo(seed: UInt64) {
    var run = Run(seed: seed)
    run.run(seconds: 60) { Self.happens(0.05 + 0.95 * max(0, 1 - 1e6 / $0), &$1) }
    #expect((0.3...1.25).contains(run.mean(last: 50) / 1e6), "\(run.mean(last: 50))")
  }

  @Test func aLimitThatIsLiftedIsLeftBehind() {
    var run = Run()
    run.run(seconds: 20) { Self.happens(max(0, 1 - 5e5 / $0), &$1) }
    run.run(seconds: 25) { _, _ in false }
    #expect(run.rate.bitsPerSecond >= 2e6)
    #expect(!run.rate.isLimited)
  }

  /// A bucket lets a burst pass.
  @Test func aProbeSaysNothingAboutALimit() {
    var run = Run()
    run.run(seconds: 20) { Self.happens(max(0, 1 - 5e5 / $0), &$1) }
    run.rate.raise(to: 2e6)
    #expect(run.rate.bitsPerSecond < 7e5)
  }

  /// Two fifths of one feedback's packets are told of with a later one: a path that reorders.
  @Test func lateAcrossFeedbackIsNoLoss() {
    var rate = LossBasedRate(bitsPerSecond: 1e6, minimum: 1e5)
    for step in 0..<80 {
      let lost = step % 5 == 1 ? 20.0 : step % 5 == 2 ? -20 : 0
      let tally = LossTally(
        lost: lost, total: 50 + min(0, lost), runs: max(0, lost), arrivedBits: (50 - lost) * 2000)
      rate.add(
        tally, target: 1e6, maximum: 2e6, roundTripTime: .milliseconds(20), now: .milliseconds(step * 100))
    }
    #expect(rate.bitsPerSecond > 1e6 && !rate.isLimited)
  }

  /// It has overflowed: nobody waits two seconds to be sure.
  @Test func lossWithAQueueIsLookedIntoAtOnce() {
    var run = Run()
    run.run(seconds: 1.5, hasQueue: true) { Self.happens(max(0, 1 - 1e6 / $0), &$1) }
    #expect(run.rate.bitsPerSecond < 1e6)
  }
}
