#if canImport(Glibc)
  import Glibc
#endif

/// Tells the loss that a path has anyway from the loss of sending more than it carries, by how much was lost at which rate.
///
/// What is sent at rate r over a path that carries b and loses the share i in any case is lost with the probability
/// i + (1 − i) · max(0, 1 − b / r). `likelihood(bandwidth:)` says how well a b fits what was seen, with the i that fits best.
/// The model is libwebrtc's (loss_based_bwe_v2).
struct LossModel: Sendable {
  /// What feedback told of a quarter of a second or more.
  struct Observation: Sendable {
    /// Packets.
    var lost: Double
    var received: Double
    /// Bits per second, with what was lost.
    var sendingRate: Double
    /// There was a standing queue on the path: it may have overflowed.
    var hasQueue: Bool
  }

  /// A radio link may lose this much even when it is far from full.
  static let largestInherentLoss = 0.25
  /// With a standing queue.
  static let largestInherentLossWithQueue = 0.05
  private static let smallestInherentLoss = 0.001
  private static let windowCount = 20
  private static let countToJudge = 4
  /// Of an observation, compared with the one after it.
  private static let weightByAge = 0.9
  /// What a packet says for a bandwidth e times as large: where nothing else tells them apart, the larger one is taken.
  private static let preferenceForMore = 0.02
  private static let newtonSteps = 4

  /// The oldest first.
  private var observations: [Observation] = []

  /// Sums with the weights.
  private var packets = 0.0
  private var lostPackets = 0.0
  /// What an observation with a queue may be explained by: not more than is lost without one. The rest is the queue's overflow.
  private var limitWithQueue = largestInherentLossWithQueue

  init() { observations.reserveCapacity(Self.windowCount + 1) }

  var isWithoutLoss: Bool { lostPackets <= 0 }

  /// Of all that was observed, 0...1.
  var fractionLost: Double { packets > 0 ? lostPackets / packets : 0 }

  /// There is more than what chance may make of a moment.
  var hasEnough: Bool { observations.count >= Self.countToJudge }

  mutating func add(_ observation: Observation) {
    observations.append(observation)
    if observations.count > Self.windowCount { observations.removeFirst() }
    sumUp()
  }

  /// So many packets of the newest observation have arrived after all.
  mutating func takeBack(lost count: Double) {
    guard let newest = observations.indices.last else { return }
    let count = min(count, observations[newest].lost)
    observations[newest].lost -= count
    observations[newest].received += count
    sumUp()
  }

  private mutating func sumUp() {
    (packets, lostPackets) = (0, 0)
    var (packetsWithoutQueue, lostPacketsWithoutQueue) = (0.0, 0.0)
    forEach { observation, weight in
      let count = weight * (observation.lost + observation.received)
      packets += count
      lostPackets += weight * observation.lost
      guard !observation.hasQueue else { return }
      packetsWithoutQueue += count
      lostPacketsWithoutQueue += weight * observation.lost
    }
    let withoutQueue = packetsWithoutQueue > 0 ? lostPacketsWithoutQueue / packetsWithoutQueue : 0
    limitWithQueue = min(max(withoutQueue, Self.largestInherentLossWithQueue), Self.largestInherentLoss)
  }

  mutating func removeAll() {
    self = LossModel()
  }

  /// The logarithm of the likelihood of all that was observed.
  ///
  /// - Parameter bandwidth: bits per second.
  func likelihood(bandwidth: Double) -> Double {
    let inherent = inherentLoss(bandwidth: bandwidth)
    var sum = packets * Self.preferenceForMore * log(bandwidth)
    forEach { observation, weight in
      let excess = Self.excess(observation, bandwidth: bandwidth)
      let base = min(inherent, limit(observation))
      let lossProbability = base + (1 - base) * excess
      sum += weight * (observation.lost * log(lossProbability) + observation.received * log(1 - lossProbability))
    }
    return sum
  }

  /// The inherent loss that fits best, 0...1. The likelihood is concave in it: Newton's method finds it.
  private func inherentLoss(bandwidth: Double) -> Double {
    func feasible(_ loss: Double) -> Double { min(max(loss, Self.smallestInherentLoss), Self.largestInherentLoss) }
    var loss = feasible(lostPackets / packets)
    for _ in 0..<Self.newtonSteps {
      var first = 0.0
      var second = 0.0
      forEach { observation, weight in
        guard loss <= limit(observation) else { return }
        let excess = Self.excess(observation, bandwidth: bandwidth)
        let probability = loss + (1 - loss) * excess
        let slope = (1 - excess) / probability
        first += weight * (observation.lost * slope - observation.received / (1 - loss))
        second += weight * (observation.lost * slope * slope + observation.received / ((1 - loss) * (1 - loss)))
      }
      guard second > 0 else { break }
      loss = feasible(loss + first / second)
    }
    return loss
  }

  private func limit(_ observation: Observation) -> Double {
    observation.hasQueue ? limitWithQueue : Self.largestInherentLoss
  }

  /// The share that the path does not carry, 0..<1.
  private static func excess(_ observation: Observation, bandwidth: Double) -> Double {
    observation.sendingRate > bandwidth ? 1 - bandwidth / observation.sendingRate : 0
  }

  private func forEach(_ body: (Observation, Double) -> Void) {
    var weight = 1.0
    for observation in observations.reversed() {
      body(observation, weight)
      weight *= Self.weightByAge
    }
  }
}
