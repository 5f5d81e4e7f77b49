public import Wire

/// Candidates and candidate pairs. RFC 8445 sections 5 and 6.1.2, RFC 8838 sections 10 and 11.
extension ICEAgent {
  /// Adds a local candidate and starts checking its pairs. Ignored if its address is known, it is not UDP, or it
  /// exceeds `maximumLocalCandidates`.
  public mutating func addLocalCandidate(_ candidate: ICECandidate, now: Instant) {
    guard state != .closed, candidate.transport == .udp, candidate.component == 1,
      localCandidates.count < configuration.maximumLocalCandidates,
      let address = candidate.transportAddress, let base = candidate.base, Self.isReachable(address),
      !localCandidates.contains(where: { $0.transportAddress == address && $0.base == base })
    else { return }
    localCandidates.append(candidate)
    lastProgressAt = now
    for remote in remoteCandidates { formPair(local: candidate, remote: remote) }
    takeEarlyChecks(now: now)
    advance(now: now)
  }

  /// Sets the credentials from the peer's description and processes candidates and checks that arrived earlier. Changed
  /// credentials mean an ICE restart by the peer (RFC 8839 section 4.4.1.1.1): the selected pair stays in use until a
  /// pair of the new generation works. Call `restart` for our own new credentials, before or after.
  public mutating func setRemoteCredentials(_ credentials: ICECredentials, now: Instant) {
    guard state != .closed, credentials != remoteCredentials else { return }
    if remoteCredentials != nil {
      beginGeneration()
      remoteRenewedAlone = true
    }
    remoteCredentials = credentials
    checkingSince = now
    lastProgressAt = now
    let held = heldCandidates
    heldCandidates = []
    for candidate in held { takeRemoteCandidate(candidate, now: now) }
    takeEarlyChecks(now: now)
    advance(now: now)
  }

  /// Adds a remote candidate. Unusable ones (TCP, another component, an unreachable address) are ignored; those of
  /// another generation, or without a description yet, are held for later. A `.local` name is emitted as
  /// `ICEOutput.resolve`; other names are ignored (RFC 8839 section 5.1 allows that).
  public mutating func addRemoteCandidate(_ candidate: ICECandidate, now: Instant) {
    guard state != .closed, candidate.transport == .udp, candidate.component == 1 else { return }
    let isOfAnotherGeneration =
      candidate.usernameFragment.map { $0 != remoteCredentials?.usernameFragment } ?? false
    if remoteCredentials == nil || isOfAnotherGeneration {
      // Evict the oldest: it most likely belongs to a past generation.
      if heldCandidates.count >= configuration.maximumRemoteCandidates { heldCandidates.removeFirst() }
      heldCandidates.append(candidate)
      return
    }
    takeRemoteCandidate(candidate, now: now)
    advance(now: now)
  }

  /// The peer signalled end-of-candidates. RFC 8838 section 14.
  public mutating func endOfRemoteCandidates(now: Instant) {
    remoteCandidatesEnded = true
    advance(now: now)
  }

  /// Supplies an address for a name from `ICEOutput.resolve`. May be called once per address.
  public mutating func addResolved(name: String, address: IPAddress, now: Instant) {
    let matches = { (candidate: ICECandidate) -> Bool in
      if case .name(let other, _) = candidate.address { other.lowercased() == name.lowercased() } else { false }
    }
    for candidate in unresolvedCandidates.filter(matches) {
      guard case .name(_, let port) = candidate.address else { continue }
      var resolved = candidate
      resolved.address = .ip(TransportAddress(ip: address, port: port))
      takeRemoteCandidate(resolved, now: now)
    }
    advance(now: now)
  }

  private mutating func takeRemoteCandidate(_ candidate: ICECandidate, now: Instant) {
    if let fragment = candidate.usernameFragment, fragment != remoteCredentials?.usernameFragment { return }
    guard let address = candidate.transportAddress else {
      guard candidate.isMulticastDNSName, case .name(let name, let port) = candidate.address, port != 0,
        !unresolvedCandidates.contains(where: { $0.address == candidate.address }),
        unresolvedCandidates.count + remoteCandidates.count < configuration.maximumRemoteCandidates
      else { return }
      guard admitSignalledCandidate(now: now) else { return }
      unresolvedCandidates.append(candidate)
      lastProgressAt = now
      emit(.resolve(name: name))
      return
    }
    guard Self.isReachable(address) else { return }
    if candidate.type == .relayed, !configuration.acceptsRelayedCandidates { return refuse(address, now: now) }
    if let index = remoteCandidates.firstIndex(where: { $0.transportAddress == address }) {
      // RFC 8838 section 11: a signalled candidate replaces the peer-reflexive one with the same address.
      guard remoteCandidates[index].type == .peerReflexive else { return }
      remoteCandidates[index] = candidate
      for pair in pairs.indices where pairs[pair].remoteAddress == address && pairs[pair].generation == generation {
        pairs[pair].remote = candidate
        pairs[pair].updatePriority(role: role)
      }
      // The check that taught us of it came to one of our addresses; it may be reached from the others, too.
      for local in localCandidates { formPair(local: local, remote: candidate) }
      return
    }
    guard admitSignalledCandidate(now: now), makeRoomForRemoteCandidate() else { return }
    remoteCandidates.append(candidate)
    lastProgressAt = now
    for local in localCandidates { formPair(local: local, remote: candidate) }
  }

  /// Whether the peer may name one more address; see `ICEConfiguration.signalledCandidateInterval`.
  private mutating func admitSignalledCandidate(now: Instant) -> Bool {
    guard let interval = configuration.signalledCandidateInterval else { return true }
    let next = max(signalledCandidatesPaidUntil, now) + interval
    guard next - now <= interval * configuration.maximumRemoteCandidates else { return false }
    signalledCandidatesPaidUntil = next
    return true
  }

  /// The peer's relay, which is not wanted: checks may have come from it already.
  private mutating func refuse(_ address: TransportAddress, now: Instant) {
    guard refusedAddresses.count < configuration.maximumRemoteCandidates,
      refusedAddresses.insert(address).inserted
    else { return }
    remoteCandidates.removeAll { $0.transportAddress == address }
    earlyChecks.removeAll { $0.remote == address }
    removePairs { $0.remoteAddress == address }
    advance(now: now)
  }

  /// Learns a candidate from a check. RFC 8445 section 7.3.1.3.
  mutating func addPeerReflexiveCandidate(_ address: TransportAddress, priority: UInt32, now: Instant) -> ICECandidate?
  {
    guard makeRoomForRemoteCandidate() else { return nil }
    let candidate = ICECandidate(
      foundation: ICECandidate.foundation(.peerReflexive, base: address.ip), priority: priority,
      address: .ip(address), type: .peerReflexive)
    remoteCandidates.append(candidate)
    lastProgressAt = now
    return candidate
  }

  /// Whether one more fits, if need be by evicting the peer-reflexive candidate that was silent longest. Those that
  /// never answered a check go first: checks replayed from spoofed addresses create only such candidates.
  private mutating func makeRoomForRemoteCandidate() -> Bool {
    if remoteCandidates.count + unresolvedCandidates.count < configuration.maximumRemoteCandidates { return true }
    let selected = selectedIndex.map { pairs[$0].remoteAddress }
    var oldest: (address: TransportAddress, isProven: Bool, heard: Instant)?
    for candidate in remoteCandidates where candidate.type == .peerReflexive {
      guard let address = candidate.transportAddress, address != selected else { continue }
      let own = pairs.filter { $0.remoteAddress == address }
      let isProven = own.contains(where: \.isSucceeded)
      let heard = own.compactMap(\.lastHeard).max() ?? .zero
      if let known = oldest, (known.isProven ? 1 : 0, known.heard) <= (isProven ? 1 : 0, heard) { continue }
      oldest = (address, isProven, heard)
    }
    guard let oldest else { return false }
    remoteCandidates.removeAll { $0.transportAddress == oldest.address }
    removePairs { [generation] in $0.remoteAddress == oldest.address && $0.generation == generation }
    return true
  }

  /// Whether a datagram can be sent to the address at all.
  static func isReachable(_ address: TransportAddress) -> Bool {
    guard address.port != 0, !address.ip.isUnspecified else { return false }
    switch address.ip {
    // Multicast, reserved and broadcast addresses cannot be peers.
    case .v4(let value): return value >> 28 < 0xe
    // A link-local address needs a zone, which `IPAddress` does not carry.
    case .v6(let high, _): return high >> 56 != 0xff && !address.ip.isLinkLocal
    }
  }

  /// RFC 8445 section 6.1.2.2: same address family, and loopback only with loopback.
  private static func canPair(_ base: TransportAddress, _ remote: TransportAddress) -> Bool {
    base.ip.isIPv6 == remote.ip.isIPv6 && base.ip.isLoopback == remote.ip.isLoopback
  }

  mutating func formPair(local: ICECandidate, remote: ICECandidate) {
    guard let base = local.base, let address = remote.transportAddress, Self.canPair(base, address) else { return }
    guard let index = insertPair(local: local, base: base, remote: remote, remoteAddress: address) else { return }
    // RFC 8445 section 8.1.2: once a pair is nominated, only better ones are checked; the rest are spares.
    let nominated = pairs.first { $0.generation == generation && $0.nominated && $0.isSucceeded }
    if nominated.map({ $0.priority < pairs[index].priority }) ?? true || isWeak { pairs[index].state = .waiting }
  }

  /// Inserts a frozen pair and returns its index; nil if there is already one with the same base and remote address
  /// (RFC 8445 section 6.1.2.4), or no room.
  mutating func insertPair(
    local: ICECandidate, base: TransportAddress, remote: ICECandidate, remoteAddress: TransportAddress
  ) -> Int? {
    guard pairIndex(base: base, remote: remoteAddress) == nil else { return nil }
    let pair = CandidatePair(
      id: nextPairID, generation: generation, local: local, base: base, remote: remote,
      remoteAddress: remoteAddress, role: role)
    if pairs.count >= configuration.maximumPairs {
      guard let index = leastUsefulPair(below: pair.priority) ?? oldestUnprovenPair else { return nil }
      let id = pairs[index].id
      removePairs { $0.id == id }
    }
    nextPairID += 1
    pairs.append(pair)
    return pairs.count - 1
  }

  /// RFC 8445 section 6.1.2.5: the idle pair with the lowest priority, failed pairs first.
  private func leastUsefulPair(below priority: UInt64) -> Int? {
    let removable = pairs.indices.filter { index in
      index != selectedIndex && !pairs[index].isSucceeded && !pairs[index].isInProgress && !pairs[index].isExpired
        && (pairs[index].isFailed || pairs[index].priority < priority)
    }
    return removable.min { a, b in
      (pairs[a].isFailed ? 0 : 1, pairs[a].priority) < (pairs[b].isFailed ? 0 : 1, pairs[b].priority)
    }
  }

  /// The peer-reflexive pair that was silent longest and never answered a check. Checks replayed from spoofed addresses
  /// create such pairs, all with the same priority; they must not keep the peer's next address out.
  private var oldestUnprovenPair: Int? {
    let unproven = pairs.indices.filter { index in
      index != selectedIndex && pairs[index].remote.type == .peerReflexive && !pairs[index].isSucceeded
        && !pairs[index].isExpired
    }
    return unproven.min { (pairs[$0].lastHeard ?? .zero) < (pairs[$1].lastHeard ?? .zero) }
  }

  /// The pair of the current generation with these addresses.
  func pairIndex(base: TransportAddress, remote: TransportAddress) -> Int? {
    pairs.firstIndex { $0.generation == generation && $0.remoteAddress == remote && $0.base == base }
  }

  /// All pairs are removed through here, which keeps the stored index and id valid.
  mutating func removePairs(where shouldRemove: (CandidatePair) -> Bool) {
    let selectedID = selectedIndex.map { pairs[$0].id }
    pairs.removeAll(where: shouldRemove)
    selectedIndex = selectedID.flatMap { id in pairs.firstIndex { $0.id == id } }
    if let nominatingID, !pairs.contains(where: { $0.id == nominatingID }) { self.nominatingID = nil }
  }
}
