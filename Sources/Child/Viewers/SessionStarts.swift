internal import Signaling
internal import Wire

/// Limits how often a credential starts a session. Each start costs a handshake, and everybody who watches a key frame: who
/// connects and leaves all the time would take the picture's bits from the family.
struct SessionStarts {
  /// For guests and tokens: a few tabs that reconnect, then a retry now and then.
  static let lentBurst = 8
  static let lentInterval = Duration.seconds(4)
  /// For paired parents, whose devices, tabs and scripts share a credential: no reconnect of theirs waits noticeably.
  static let parentBurst = 64
  static let parentInterval = Duration.milliseconds(500)

  private var lent = RateLimiter<Credential>(burst: lentBurst, interval: lentInterval)
  private var parents = RateLimiter<Credential>(burst: parentBurst, interval: parentInterval)

  /// Counts one start.
  ///
  /// - Throws: `Refusal.tooOften` when the credential has to wait.
  mutating func count(
    _ credential: Credential, rank: ViewerAdmission.Rank, now: Instant
  ) throws(ViewerAdmission.Refusal) {
    let verdict =
      rank == .parent ? parents.admit(credential, now: now) : lent.admit(credential, now: now)
    if let wait = verdict.wait { throw .tooOften(retryAfter: wait) }
  }
}
