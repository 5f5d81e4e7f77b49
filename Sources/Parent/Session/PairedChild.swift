internal import Frames
internal import Identity
public import Pairing
internal import SecureTransport
internal import Server
internal import Signaling
internal import Storage
internal import Wire

/// A paired child, and how to reach it.
public struct PairedChild: Sendable {
  public let record: PairRecord
  let identity: NodeIdentity
  /// The addresses to try, best first; evaluated for each session.
  let route: @Sendable () -> AsyncStream<ChildAddress>
  /// How to reach it from elsewhere.
  let away: AwayNotes
  private let state: ParentState

  init(
    record: PairRecord, state: ParentState, identity: NodeIdentity, away: AwayNotes,
    route: @escaping @Sendable () -> AsyncStream<ChildAddress>
  ) {
    self.record = record
    self.state = state
    self.away = away
    self.identity = identity
    self.route = route
  }

  /// Accepts only certificates over the child's own key.
  var pin: HTTPTrust { .pinnedKey(sha256: CryptoHashes().sha256(record.publicKey)) }

  func makeSession() -> PairedParentSession {
    PairedParentSession(
      envelope: SignedEnvelope(
        id: identity.id, signer: identity, verifier: PairingPrimitives()),
      child: PairedPeer(id: record.id, publicKeySPKI: record.publicKey, permissions: record.permissions),
      wallClock: MonotonicClock.wallClockReference, random: SystemRandomNumberGenerator())
  }

  /// Remembers that the child was met at a meeting place. Failing to do so is no reason to fail the session.
  func noteMet() {
    guard let known = (try? state.pairs())?.records.first(where: { $0.id == record.id }) else { return }
    let now = UnixTime.now
    if !Self.isNoted(known, now) { note(now, known.lastAddress) }
  }

  /// Remembers where the child was reached. Failing to do so is no reason to fail the session.
  func noteReached(at address: ChildAddress, remote: IPAddress?, reach: NetworkReach) {
    let now = UnixTime.now
    // The home's address is tried first, also after a day elsewhere.
    if reach == .elsewhere { away.note(address) }
    guard let known = (try? state.pairs())?.records.first(where: { $0.id == record.id }) else { return }
    let reached =
      reach == .elsewhere
      ? known.lastAddress : KnownAddress(reached: address, remote: remote, before: known.lastAddress)
    if Self.isNoted(known, now), reached == known.lastAddress { return }
    note(now, reached)
  }

  /// A date ahead of now was noted while the clock was wrong.
  private static func isNoted(_ known: PairRecord, _ now: UnixTime) -> Bool {
    known.lastSeenAt.map { (0..<noteInterval).contains(now.seconds - $0.seconds) } ?? false
  }

  private func note(_ now: UnixTime, _ address: KnownAddress?) {
    try? state.changePairs { store in
      store.touch(id: record.id, date: now, address: address)
      if now >= TrustedClock.earliest { store.correctLastSeen(to: now) }
      try store.saveNotes()
    }
  }

  /// Removes the pair record here. False when there was none.
  @discardableResult
  public func forget() throws -> Bool {
    try state.changeAway { try $0.forget(record.id) }
    return try state.changePairs { store in
      guard store.book.records.contains(where: { $0.id == record.id }) else { return false }
      try store.revoke(id: record.id)
      return true
    }
  }

  /// Seconds between writes: `lastSeenAt` is shown to people and need not be exact.
  private static let noteInterval: Int64 = 60
}

extension UnixTime {
  /// The wall clock.
  static var now: UnixTime { UnixTime(seconds: MonotonicClock.unixSeconds) }
}
