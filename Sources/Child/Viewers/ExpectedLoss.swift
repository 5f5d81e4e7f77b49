internal import Wire

/// The packet loss that the FEC of the sound is made for: of the listener who has most, paired parents
/// first, in few steps, so that the encoder
/// does not change each second.
struct ExpectedLoss: Sendable {
  /// 0: no FEC.
  private(set) var percent = 0
  /// Since when less would have been enough, and what would have been, at most.
  private var less: (since: Instant, percent: Int)?

  /// Less is nothing to spend bits on.
  private static let begins = 0.01
  /// libopus makes the copies the better the more loss it expects. Below 6 it has none at our rate (`OpusEncoder`), and above
  /// 30 they take what the sound itself needs.
  private static let steps = [6, 10, 15, 20, 30]
  private static let calm = Duration.seconds(20)

  /// Somebody who hears the sound that all hear.
  struct Listener {
    /// As it reports, over the last ten seconds, 0...1.
    var fractionLost: Double
    /// A guest or a player with a token: beside paired parents, what it reports changes nothing of what they hear.
    var isLent: Bool
  }

  /// Gives back the percentage to encode for. Call it about once a second.
  mutating func update(_ listeners: [Listener], now: Instant) -> Int {
    let parents = listeners.filter { !$0.isLent }
    let wanted = Self.step(for: (parents.isEmpty ? listeners : parents).map(\.fractionLost).max() ?? 0)
    if wanted >= percent {
      percent = wanted
      less = nil
      return percent
    }
    let before = less ?? (now, 0)
    less = (before.since, max(before.percent, wanted))
    if now - before.since >= Self.calm {
      percent = max(before.percent, wanted)
      less = nil
    }
    return percent
  }

  private static func step(for fractionLost: Double) -> Int {
    guard fractionLost >= begins else { return 0 }
    return steps.first { Double($0) >= fractionLost * 100 } ?? steps[steps.count - 1]
  }
}
