public import Wire

/// Changes of our own addresses while connected. RFC 8445 section 9 leaves them to a restart; until it has been agreed,
/// checks from the new address already let the peer's answers through: it learns that address from them.
extension ICEAgent {
  /// An address of ours is gone, and so are its pairs. Another pair takes over at once if there is one; otherwise every
  /// address of the peer is tried again from those that we have, and from those that are added.
  public mutating func removeLocalCandidate(base: TransportAddress, now: Instant) {
    guard state != .closed, localCandidates.contains(where: { $0.base == base }) else { return }
    localCandidates.removeAll { $0.base == base }
    silentBases.remove(base)
    removePairs { $0.base == base }
    earlyChecks.removeAll { $0.local == base }
    if selectedIndex == nil { previous = nil }
    lastProgressAt = now
    retryOtherPairs(now: now)
    advance(now: now)
  }

  /// An address of ours carries nothing at the moment, because its interface has lost its carrier, or does again. Its pairs
  /// stay: a short loss of Wi-Fi needs no new path.
  public mutating func setCarries(_ isCarrying: Bool, base: TransportAddress, now: Instant) {
    guard state != .closed, localCandidates.contains(where: { $0.base == base }) else { return }
    if isCarrying {
      guard silentBases.remove(base) != nil else { return }
      for index in pairs.indices where pairs[index].base == base && pairs[index].generation == generation {
        if pairs[index].isFailed { pairs[index].state = .waiting }
      }
      // Is the peer still there?
      if let selectedIndex, pairs[selectedIndex].base == base { sendCheck(selectedIndex, .probe, now: now) }
    } else {
      guard silentBases.insert(base).inserted else { return }
      if let selectedIndex, pairs[selectedIndex].base == base { retryOtherPairs(now: now) }
    }
    advance(now: now)
  }
}
