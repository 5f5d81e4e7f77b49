import Wire

/// A chunk that has a TSN and is not yet cumulatively acknowledged.
struct OutstandingChunk: Sendable {
  enum Status: Hashable, Sendable {
    case inFlight
    /// Lost, to be retransmitted.
    case marked
    /// In a gap block of the last SACK.
    case acknowledged
    /// Given up under partial reliability; the peer has to skip it. RFC 3758 section 3.5.
    case abandoned
  }

  var data: DataChunk
  var messageNumber: UInt64
  var maximumRetransmissions: UInt32?
  var expiresAt: Instant?
  var sentAt: Instant
  var transmissions: UInt32
  var status: Status
  /// SACKs that acknowledged something sent later.
  var misses = 0
  /// TSNs from this one on were sent after this chunk's last transmission, so only they show that it is missing.
  var missesCountFrom: UInt32

  func isExhausted(now: Instant) -> Bool {
    if let maximumRetransmissions, transmissions > maximumRetransmissions { return true }
    if let expiresAt, expiresAt <= now { return true }
    return false
  }
}
