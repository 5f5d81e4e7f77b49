internal import Wire

/// What a player's path seems to carry. TCP measures no rate that could be asked for: a player that keeps up may have
/// everything; one that does not gets half as much each time, and a quarter more after a while without trouble. Pure.
struct RTSPPath {
  private static let leastKbps = 100
  private static let patience: Duration = .seconds(20)

  private let maximumKbps: Int
  private(set) var kbps: Int
  private var quietSince: Instant?

  init(maximumKbps: Int) {
    self.maximumKbps = maximumKbps
    kbps = maximumKbps
  }

  /// Pictures had to be dropped.
  mutating func recordDrop(now: Instant) {
    kbps = max(min(Self.leastKbps, maximumKbps), kbps / 2)
    quietSince = now
  }

  /// Call it each second.
  mutating func update(now: Instant) {
    guard let since = quietSince, now - since >= Self.patience else { return }
    kbps = min(maximumKbps, kbps * 5 / 4)
    quietSince = kbps < maximumKbps ? now : nil
  }
}
