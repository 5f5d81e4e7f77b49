import STUN
import Wire

/// Nomination, the selected pair and the state. RFC 8445 sections 8.1 and 12.1.
extension ICEAgent {
  /// Both roles: the peers agree on this pair.
  mutating func markNominated(_ index: Int) {
    pairs[index].nominated = true
    firstValidAt = nil
    let priority = pairs[index].priority
    for other in pairs.indices where other != index && pairs[other].generation == generation {
      // One pair is nominated by the controlling side at a time; a controlled side may hear of several.
      if role == .controlling { pairs[other].nominated = false }
      // RFC 8445 section 8.1.2: less good pairs are not checked any more. They stay as spares, and a response to what
      // is already under way still counts.
      if pairs[other].priority < priority, pairs[other].isWaiting || pairs[other].isInProgress {
        pairs[other].state = .frozen
        for check in pairs[other].checks.indices { pairs[other].checks[check].transaction.stopRetransmitting() }
      }
    }
  }

  /// Picks the pair that data goes over: among those that may be used the one that is alive, nominated, and of the
  /// highest priority, in this order.
  ///
  /// RFC 8445 keeps to the nominated pair until a restart. As libwebrtc does, a pair that has fallen silent is left
  /// here for one that works: a restart may not come through when the path is gone.
  mutating func select(now: Instant) {
    let usable = pairs.indices.filter { pairs[$0].generation == generation && pairs[$0].isUsable(at: now) }
    guard var best = usable.max(by: { rank($0, now: now) < rank($1, now: now) }) else { return }
    if let selectedIndex, pairs[selectedIndex].generation == generation, pairs[selectedIndex].isUsable(at: now),
      rank(best, now: now) <= rank(selectedIndex, now: now)
    {
      guard let moved = movedPair(from: selectedIndex, among: usable, now: now) else { return }
      best = moved
    }
    guard best != selectedIndex else { return }
    selectedIndex = best
    isWeak = false
    hasLostConsent = false
    if pairs[best].nextConsentCheck < now { scheduleConsentCheck(of: best, now: now) }
    // The old generation ends with the first pair of the new one.
    previous = nil
    removePairs { [generation] in $0.generation != generation }
    if let selectedIndex { emit(.selectedPairChanged(publicPair(pairs[selectedIndex]))) }
  }

  /// A pair that the peer has nominated and speaks over, while the selected one is silent: a NAT on its side has rebound.
  private func movedPair(from selected: Int, among usable: [Int], now: Instant) -> Int? {
    guard !pairs[selected].isAlive(at: now, within: configuration.probeAfter) else { return nil }
    return usable.first {
      $0 != selected && pairs[$0].nominated && pairs[$0].isAlive(at: now, within: configuration.probeInterval)
    }
  }

  private func rank(_ index: Int, now: Instant) -> (Int, Int, UInt64) {
    let pair = pairs[index]
    let isAlive = pair.isAlive(at: now, within: configuration.weakAfter)
    return (isAlive ? 1 : 0, pair.nominated ? 1 : 0, pair.priority)
  }

  /// Regular nomination. RFC 8445 section 8.1.1.
  ///
  /// The best valid pair is nominated when no better one can still come, when it is as direct as a path can be, or when
  /// `nominationPatience` is over. RFC 8445 forbids a second nomination without a restart; Chromium makes them, and
  /// every peer that we know takes them. Here one follows when the nominated pair is silent and another works, or
  /// when a more direct path turns up.
  mutating func nominate(now: Instant) {
    guard role == .controlling, remoteCredentials != nil else { return }
    let alive = pairs.indices.filter { index in
      pairs[index].generation == generation && pairs[index].isUsable(at: now)
        && pairs[index].isAlive(at: now, within: configuration.weakAfter)
    }
    // A nomination that has fallen silent does not keep another pair waiting.
    if let nominatingID, !alive.contains(where: { pairs[$0].id == nominatingID }) { self.nominatingID = nil }
    guard nominatingID == nil else { return }
    guard let target = alive.max(by: { nominationRank($0) < nominationRank($1) }) else { return }
    if let nominated = pairs.firstIndex(where: { $0.nominated && $0.isUsable(at: now) && $0.generation == generation })
    {
      guard nominated != target,
        !alive.contains(nominated) || directness(target) > directness(nominated)
      else { return }
    } else {
      let since = firstValidAt ?? now
      firstValidAt = since
      let canImprove = pairs.contains { pair in
        (pair.isWaiting || pair.isInProgress) && pair.priority > pairs[target].priority
      }
      guard !canImprove || directness(target) == 2 || now >= since + configuration.nominationPatience else { return }
    }
    nominatingID = pairs[target].id
    sendCheck(target, .nomination, now: now)
  }

  private func nominationRank(_ index: Int) -> (Int, UInt64) {
    (directness(index), pairs[index].priority)
  }

  private func directness(_ index: Int) -> Int {
    pairs[index].directness { address in
      localCandidates.contains { $0.type == .host && $0.transportAddress == address }
    }
  }

  /// When checking that leads nowhere becomes failure. RFC 8863.
  var failureDeadline: Instant? {
    let patient = lastProgressAt + configuration.failedAfter
    guard let checkingSince else {
      // A restart of ours that the peer has not answered: the time to do so is over some time after the old pair.
      return generation > 0 ? patient : nil
    }
    guard remoteCandidatesEnded, pairs.allSatisfy({ $0.isFailed || $0.isExpired || $0.generation != generation }) else {
      return patient
    }
    return min(patient, max(checkingSince, lastProgressAt) + configuration.failedAfterEndOfCandidates)
  }

  mutating func updateState(now: Instant) {
    let next = currentState(now: now)
    guard next != state else { return }
    state = next
    emit(.stateChanged(next))
  }

  private func currentState(now: Instant) -> ICEConnectionState {
    if let selectedIndex {
      if isWeak { return .disconnected }
      let pair = pairs[selectedIndex]
      let canImprove = pairs.contains { ($0.isWaiting || $0.isInProgress) && $0.priority > pair.priority }
      return pair.nominated && pair.generation == generation && !canImprove ? .completed : .connected
    }
    if hasLostConsent { return .failed }
    if remoteCredentials == nil, generation == 0 { return state == .new ? .new : .checking }
    if let failureDeadline, now >= failureDeadline { return .failed }
    return .checking
  }
}
