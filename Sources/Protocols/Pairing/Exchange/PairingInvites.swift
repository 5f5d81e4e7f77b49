internal import Wire

/// Valid links: each for one pairing, until its own expiry.
struct PairingInvites: Sendable {
  struct Invite: Sendable {
    /// Its id for people. The link's own id stays between the two ends of its pairing.
    let name: String
    let issuer: PairingIssuer
    /// Verifier record of the link's secret.
    let record: SPAKE2PlusRecord
    let terms: PairingTerms
    let expiresAt: Instant
    /// Created with the window, and removed with it.
    let belongsToWindow: Bool
  }

  /// By `PairingBytes.linkID`.
  private(set) var invites: [[UInt8]: Invite] = [:]

  var ofPeople: Int { invites.values.count { !$0.belongsToWindow } }

  mutating func add(_ invite: Invite, id: [UInt8]) {
    invites[id] = invite
  }

  /// Those that do not belong to the window, the first to expire first.
  var listed: [PairingInvitation] {
    invites.values.filter { !$0.belongsToWindow }.map { invite in
      PairingInvitation(id: invite.name, issuer: invite.issuer, terms: invite.terms, expiresAt: invite.expiresAt)
    }.sorted { ($0.expiresAt, $0.id) < ($1.expiresAt, $1.id) }
  }

  subscript(id: [UInt8]) -> Invite? { invites[id] }

  mutating func remove(_ id: [UInt8]) {
    invites[id] = nil
  }

  mutating func removeWindow() {
    invites = invites.filter { !$0.value.belongsToWindow }
  }

  var nextDeadline: Instant? { invites.values.map(\.expiresAt).min() }

  /// Removes and returns expired invites.
  mutating func expire(now: Instant) -> [Invite] {
    let expired = invites.filter { $0.value.expiresAt <= now }
    for id in expired.keys { invites[id] = nil }
    return Array(expired.values)
  }
}
