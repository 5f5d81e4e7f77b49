internal import Wire

/// Links that are valid: each for one pairing, until its own expiry.
struct PairingInvites: Sendable {
  struct Invite: Sendable {
    /// What is kept of the link's secret.
    let record: SPAKE2PlusRecord
    let terms: PairingTerms
    let expiresAt: Instant
    /// Goes with the window that it was opened with.
    let belongsToWindow: Bool
  }

  /// By `PairingBytes.linkID`.
  private(set) var invites: [[UInt8]: Invite] = [:]

  var ofPeople: Int { invites.values.count { !$0.belongsToWindow } }

  mutating func add(_ invite: Invite, id: [UInt8]) {
    invites[id] = invite
  }

  subscript(id: [UInt8]) -> Invite? { invites[id] }

  mutating func remove(_ id: [UInt8]) {
    invites[id] = nil
  }

  mutating func removeWindow() {
    invites = invites.filter { !$0.value.belongsToWindow }
  }

  var nextDeadline: Instant? { invites.values.map(\.expiresAt).min() }

  /// Takes out what has expired.
  mutating func expire(now: Instant) -> [Invite] {
    let expired = invites.filter { $0.value.expiresAt <= now }
    for id in expired.keys { invites[id] = nil }
    return Array(expired.values)
  }
}
