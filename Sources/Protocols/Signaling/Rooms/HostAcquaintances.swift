internal import Wire

/// Since when a room server has known its hosts. Bounded: of too many, those are forgotten that have stayed for the shortest
/// time, so that keys which somebody makes push nobody out; those that are here stay.
struct HostAcquaintances: Sendable {
  private struct Acquaintance: Sendable {
    var since: Instant
    var lastSeen: Instant
    /// How long it has been here, as far as it has said something.
    var stayed: Duration = .zero
    var isHere = true
  }

  /// A host announces itself each hour, so whoever was not seen for two was away.
  private static let forgivenAbsence: Duration = .seconds(2 * 3600)

  private let maximum: Int
  /// Who has stayed for so long is known.
  private let knownAfter: Duration
  private var known: [String: Acquaintance] = [:]

  /// - Parameter maximum: more than can be here at once.
  init(maximum: Int, knownAfter: Duration) {
    self.maximum = max(4, maximum)
    self.knownAfter = knownAfter
  }

  /// The host has just proven its key.
  mutating func arrive(_ host: String, now: Instant) {
    if let before = known[host], now - before.lastSeen <= Self.forgivenAbsence {
      known[host]?.lastSeen = now
      known[host]?.isHere = true
    } else {
      if known[host] == nil, known.count >= maximum { forgetSome() }
      known[host] = Acquaintance(since: now, lastSeen: now)
    }
  }

  /// The host has said something over a connection where it has proven its key.
  mutating func see(_ host: String, now: Instant) {
    guard let before = known[host], now - before.lastSeen <= Self.forgivenAbsence else { return arrive(host, now: now) }
    known[host]?.stayed += max(.zero, now - before.lastSeen)
    known[host]?.lastSeen = now
  }

  mutating func leave(_ host: String) { known[host]?.isHere = false }

  /// Zero for one that is not known.
  func age(of host: String, now: Instant) -> Duration { known[host].map { now - $0.since } ?? .zero }

  /// Whether it was here for long.
  func isKnown(_ host: String) -> Bool { known[host].map { $0.stayed >= knownAfter } ?? false }

  private mutating func forgetSome() {
    // A quarter at once, so that it is seldom sorted.
    let away = known.filter { !$0.value.isHere }.sorted {
      ($0.value.stayed, $0.value.lastSeen, $0.key) < ($1.value.stayed, $1.value.lastSeen, $1.key)
    }
    for (host, _) in away.prefix(maximum / 4) { known[host] = nil }
  }
}
