import Wire

/// What was lost of what was sent in some time, by transport-wide feedback or reports.
struct LossTally: Sendable {
  /// Packets.
  var lost = 0.0
  var total = 0.0
  /// How often some of them were lost in a row.
  var runs = 0.0
  /// Bits of those that arrived.
  var arrivedBits = 0.0
  var seconds = 0.0
  /// There was a queue on the path: it may have overflowed.
  var hasQueue = false

  init(
    lost: Double = 0, total: Double = 0, runs: Double = 0, arrivedBits: Double = 0, hasQueue: Bool = false
  ) {
    (self.lost, self.total, self.runs, self.arrivedBits) = (lost, total, runs, arrivedBits)
    self.hasQueue = hasQueue
  }

  init(_ result: TransportFeedbackResult, hasQueue: Bool) {
    self.init(
      lost: Double(result.lost - result.recovered),
      total: Double(max(0, result.lost + result.acknowledged.count - result.recovered)), runs: Double(result.lossRuns),
      arrivedBits: Double(result.acknowledged.reduce(0) { $0 + $1.bytes }) * 8, hasQueue: hasQueue)
  }

  static func += (sum: inout LossTally, other: LossTally) {
    sum.lost += other.lost
    sum.total += other.total
    sum.runs += other.runs
    sum.arrivedBits += other.arrivedBits
    sum.seconds += other.seconds
    sum.hasQueue = sum.hasQueue || other.hasQueue
  }

  /// 0...1.
  var fractionLost: Double { total > 0 ? min(max(0, lost / total), 1) : 0 }

  /// Bits per second.
  var arrivalRate: Double { seconds > 0 ? arrivedBits / seconds : 0 }

  private static let clearlyLess = 0.6

  /// Whether clearly more is lost than in `other`, and not by chance. Of losses in a row only the first is by chance.
  ///
  /// - Parameter deviations: how many standard deviations chance may make.
  func isClearlyMore(than other: LossTally, deviations: Double) -> Bool {
    guard total > 0, other.total > 0, other.fractionLost < fractionLost * Self.clearlyLess else { return false }
    var all = self
    all += other
    let share = all.fractionLost
    let spread = max(1, 2 * all.lost / max(1, all.runs) * (1 - share) - 1)
    let variance = share * (1 - share) * spread * (1 / total + 1 / other.total)
    return fractionLost - other.fractionLost > deviations * variance.squareRoot()
  }
}
