import Wire

/// An authenticated check of the peer. RFC 8445 section 7.3.
struct PeerCheck: Sendable {
  var remote: TransportAddress
  var local: TransportAddress
  var remoteUsernameFragment: String
  var priority: UInt32
  var usesCandidate: Bool
  var nomination: UInt32?
}

/// Checks that arrived before the credentials or candidates that they need, one per path, oldest first.
struct EarlyChecks: Sendable {
  private var checks: [PeerCheck] = []
  private let maximum: Int

  init(maximum: Int) {
    self.maximum = maximum
  }

  mutating func keep(_ check: PeerCheck) {
    var check = check
    if let index = checks.firstIndex(where: { $0.remote == check.remote && $0.local == check.local }) {
      let earlier = checks.remove(at: index)
      check.usesCandidate = check.usesCandidate || earlier.usesCandidate
      check.nomination = check.nomination ?? earlier.nomination
    } else if checks.count >= maximum {
      // Evict the oldest: replays from spoofed addresses must not keep the peer's next check out.
      checks.removeFirst()
    }
    checks.append(check)
  }

  mutating func takeAll() -> [PeerCheck] {
    defer { checks = [] }
    return checks
  }

  mutating func remove(where shouldRemove: (PeerCheck) -> Bool) {
    checks.removeAll(where: shouldRemove)
  }
}
