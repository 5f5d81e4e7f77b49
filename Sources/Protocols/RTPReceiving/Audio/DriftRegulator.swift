/// Computes how much faster or slower than its own clock a player must run to keep pace with another one. Crystals
/// differ by up to some 100 ppm, which adds up to seconds per night.
///
/// The amount buffered grows or shrinks with the difference. A proportional-integral controller turns its deviation
/// from the target into a rate: slowly enough to be inaudible, and without a steady-state error.
package struct DriftRegulator: Hashable, Sendable {
  /// Parts per billion; positive is faster than our own clock.
  package private(set) var rate: Int64 = 0
  /// The deviation, smoothed, in nanoseconds.
  private var deviation: Int64 = 0
  /// Estimated difference of the clocks, in 1024ths of a part per billion.
  private var learnt: Int64 = 0

  /// 500 ppm are less than a hundredth of a semitone.
  private static let maximumRate: Int64 = 500_000
  private static let maximumLearnt: Int64 = 300_000 * 1024
  /// A deviation of a packet or more comes from the network or from startup, and is corrected elsewhere.
  private static let reach: Int64 = 19_000_000
  private static let smoothing: Int64 = 10_000_000_000
  /// 20 ppm for each millisecond.
  private static let nanosecondsPerRate: Int64 = 50
  /// Integral time of 200 s; with the gain above, the deviation decays without overshoot.
  private static let learning: Int64 = 200_000_000_000
  private static let maximumElapsed: Int64 = 1_000_000_000

  package init() {}

  /// - Parameters:
  ///   - excess: nanoseconds buffered beyond the target.
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

  /// How long `nanoseconds` of audio take at this rate. Up to an hour.
  package func duration(of nanoseconds: Int64) -> Int64 {
    nanoseconds - nanoseconds / 1000 * rate / 1_000_000
  }
}
