public import Wire

/// ICE restart. RFC 8445 section 9, RFC 8839 section 4.4.1.1.1.
extension ICEAgent {
  /// Starts a new generation and returns our new credentials. Local candidates, role and tie-breaker are kept. The
  /// selected pair stays in use, with its old credentials, until a pair of the new generation works.
  public mutating func restart(now: Instant) -> ICECredentials {
    guard state != .closed else { return localCredentials }
    // If the peer restarted first, its credentials and candidates are already known; ours complete that restart.
    let renewed = remoteRenewedAlone ? remoteCredentials : nil
    let (candidates, unresolved, ended) = (remoteCandidates, unresolvedCandidates, remoteCandidatesEnded)
    beginGeneration()
    localCredentials = ICECredentials.random(using: &random)
    remoteCredentials = renewed
    checkingSince = renewed == nil ? nil : now
    lastProgressAt = now
    if renewed != nil {
      (remoteCandidates, unresolvedCandidates, remoteCandidatesEnded) = (candidates, unresolved, ended)
      for local in localCandidates {
        for remote in remoteCandidates { formPair(local: local, remote: remote) }
      }
    }
    advance(now: now)
    return localCredentials
  }

  /// Ends the current generation, keeping only the selected pair.
  mutating func beginGeneration() {
    if let selectedIndex, let remoteCredentials, pairs[selectedIndex].generation == generation {
      previous = PreviousGeneration(local: localCredentials, remote: remoteCredentials)
    } else if selectedIndex == nil {
      previous = nil
    }
    let kept = selectedIndex.map { pairs[$0].id }
    removePairs { $0.id != kept }
    generation += 1
    remoteCandidates = []
    refusedAddresses = []
    unresolvedCandidates = []
    remoteCandidatesEnded = false
    earlyChecks = []
    triggered = []
    nominatingID = nil
    firstValidAt = nil
    hasLostConsent = false
    remoteRenewedAlone = false
  }

  /// The credentials of the pair's generation; nil while the peer's are missing.
  func credentials(for pair: CandidatePair) -> (local: ICECredentials, remote: ICECredentials)? {
    if pair.generation == generation { return remoteCredentials.map { (localCredentials, $0) } }
    return previous.map { ($0.local, $0.remote) }
  }
}
