internal import Wire

/// Since when a room server has known its hosts. Bounded: of too many those are forgotten that were here longest ago.
struct HostAcquaintances: Sendable {
  private struct Acquaintance: Sendable {
    var since: Instant
    var lastSeen: Instant
  }

  /// A host announces itself each hour, so whoever was not seen for two was away.
  private static let forgivenAbsence: Duration = .seconds(2 * 3600)

  private let maximum: Int
  private var known: [String: Acquaintance] = [:]

  init(maximum: Int) {
    self.maximum = max(4, maximum)
  }

  /// The host has just proven its key, or said something over a connection where it has.
  mutating func see(_ host: String, now: Instant) {
    if let before = known[host], now - before.lastSeen <= Self.forgivenAbsence {
      known[host]?.lastSeen = now
    } else {
      if known[host] == nil, known.count >= maximum { forgetOldest() }
      known[host] = Acquaintance(since: now, lastSeen: now)
    }
  }

  /// Zero for one that is not known.
  func age(of host: String, now: Instant) -> Duration { known[host].map { now - $0.since } ?? .zero }

  private mutating func forgetOldest() {
    // A quarter at once, so that it is seldom sorted.
    let oldest = known.sorted { ($0.value.lastSeen, $0.key) < ($1.value.lastSeen, $1.key) }
    for (host, _) in oldest.prefix(maximum / 4) { known[host] = nil }
  }
}
