/// By how much a player has to run faster or slower than its own clock to keep pace with another one. Crystals differ
/// by up to some 100 ppm, which adds up to seconds in a night.
///
/// What waits to be played grows or shrinks with the difference. A proportional-integral regulator turns its deviation
/// from where it should be into a rate: slowly enough that nobody hears it, and without a deviation that stays.
package struct DriftRegulator: Hashable, Sendable {
  /// Parts per billion; positive is faster than the own clock.
  package private(set) var rate: Int64 = 0
  /// The deviation, smoothed, in nanoseconds.
  private var deviation: Int64 = 0
  /// What the clocks differ by as far as is known, in 1024ths of a part per billion.
  private var learnt: Int64 = 0

  /// 500 ppm are less than a hundredth of a semitone.
  private static let maximumRate: Int64 = 500_000
  private static let maximumLearnt: Int64 = 300_000 * 1024
  /// A packet or more too much or too little is for others to mend: it comes from the network or from a start.
  private static let reach: Int64 = 19_000_000
  private static let smoothing: Int64 = 10_000_000_000
  /// 20 ppm for each millisecond.
  private static let nanosecondsPerRate: Int64 = 50
  /// 200 s until what stays has been learnt; with the gain above the deviation then dies away without swinging over.
  private static let learning: Int64 = 200_000_000_000
  private static let maximumElapsed: Int64 = 1_000_000_000

  package init() {}

  /// - Parameters:
  ///   - excess: nanoseconds that more wait than should.
  ///   - elapsed: nanoseconds since the last call; at most a second counts.
  package mutating func note(excess: Int64, elapsed: Int64) {
    guard (-Self.reach...Self.reach).contains(excess) else { return }
    let elapsed = min(max(0, elapsed), Self.maximumElapsed)
    deviation += (excess - deviation) * elapsed / Self.smoothing
    learnt += deviation * elapsed / (Self.nanosecondsPerRate * Self.learning / 1024)
    learnt = min(max(learnt, -Self.maximumLearnt), Self.maximumLearnt)
    let wanted = deviation / Self.nanosecondsPerRate + learnt / 1024
    rate = min(max(wanted, -Self.maximumRate), Self.maximumRate)
  }

  /// How long something of `nanoseconds` takes at this rate. Up to an hour.
  package func duration(of nanoseconds: Int64) -> Int64 {
    nanoseconds - nanoseconds / 1000 * rate / 1_000_000
  }
}
