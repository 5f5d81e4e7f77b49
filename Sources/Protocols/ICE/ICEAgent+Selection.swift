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
      // The controlling side nominates one pair at a time; the controlled side may see several nominated, unless the
      // peer numbers its nominations: then the last one counts.
      if role == .controlling || pairs[index].nomination.map({ $0 > pairs[other].nomination ?? 0 }) ?? false {
        pairs[other].nominated = false
        pairs[other].nominationAwaitsCheck = false
      }
      // RFC 8445 section 8.1.2: lower-priority pairs are no longer checked. They stay as spares, and responses to
      // checks already sent still count.
      if pairs[other].priority < priority, pairs[other].isWaiting || pairs[other].isInProgress {
        pairs[other].state = .frozen
        for check in pairs[other].checks.indices { pairs[other].checks[check].transaction.stopRetransmitting() }
      }
    }
  }

  /// Selects the pair that carries data: among usable pairs, by liveness, nomination and priority, in this order.
  ///
  /// RFC 8445 keeps the nominated pair until a restart. Like libwebrtc, this agent leaves a silent pair for one that
  /// works: a restart may not get through when the path is gone.
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
    pairs[best].selectedAt = now
    isWeak = false
    hasLostConsent = false
    if pairs[best].nextConsentCheck < now { scheduleConsentCheck(of: best, now: now) }
    // The old generation ends once a pair of the new one works.
    previous = nil
    removePairs { [generation] in $0.generation != generation }
    if let selectedIndex { emit(.selectedPairChanged(publicPair(pairs[selectedIndex]))) }
  }

  /// A pair that the peer sends on while the selected one is silent: it has another address, or its NAT has rebound. The
  /// controlled side follows nominations only, lest both sides follow each other in turns.
  private func movedPair(from selected: Int, among usable: [Int], now: Instant) -> Int? {
    guard !pairs[selected].isAlive(at: now, within: configuration.movedAfter) else { return nil }
    let isLongSilent = !pairs[selected].isAlive(at: now, within: configuration.probeAfter)
    return usable.first {
      $0 != selected && pairs[$0].isAlive(at: now, within: configuration.probeInterval)
        && (role == .controlling || pairs[$0].nominated && isLongSilent)
    }
  }

  /// Data has come on another pair than the selected one.
  func seemsMoved(now: Instant) -> Bool {
    guard role == .controlling, let selectedIndex else { return false }
    return !pairs[selectedIndex].isAlive(at: now, within: configuration.movedAfter)
  }

  private func rank(_ index: Int, now: Instant) -> (Int, Int, UInt64) {
    let pair = pairs[index]
    return (isHealthy(index, now: now) ? 1 : 0, pair.nominated ? 1 : 0, pair.priority)
  }

  /// Something has come on it lately, our interface carries it, and the peer has not left it.
  private func isHealthy(_ index: Int, now: Instant) -> Bool {
    pairs[index].isAlive(at: now, within: configuration.weakAfter) && !silentBases.contains(pairs[index].base)
      && !hasLeft(index, now: now)
  }

  /// Whether the peer sends media on another pair, and no longer on this one: the one that it uses has gone at its end.
  /// A pair that it has not used since we chose it is given longer: a busy peer may not have followed our nomination. Nor has
  /// it left a pair from which our own nomination of another has called it away.
  /// The controlled side follows to nominated pairs only, lest both sides follow each other in turns.
  func hasLeft(_ index: Int, now: Instant) -> Bool {
    let pair = pairs[index]
    guard pair.lastData != nil || pair.selectedAt != nil else { return false }
    let chosen = max(pair.selectedAt ?? .zero, role == .controlling && pair.nominated ? lastNominationAt : .zero)
    let used = pair.lastData ?? .zero
    let patience = used >= chosen ? configuration.leftAfter : configuration.movedAfter
    let limit = max(used, chosen) + patience + (pair.currentRoundTripTime ?? .zero) * 2
    if role == .controlling, !pair.nominated, lastNominationAt < limit { return false }
    return pairs.contains { other in
      guard let data = other.lastData, data > limit, now - data < configuration.weakAfter else { return false }
      return other.id != pair.id && other.generation == generation && other.isUsable(at: now)
        && (role == .controlling || other.nominated)
    }
  }

  /// Regular nomination. RFC 8445 section 8.1.1.
  ///
  /// Nominates the best valid pair when no better one is still being checked, when its path is fully direct, or when
  /// `nominationPatience` has elapsed. RFC 8445 forbids a second nomination without a restart; Chromium does it, and
  /// every peer that we know accepts it. We renominate when the nominated pair is silent and another works, or when a
  /// more direct path appears.
  mutating func nominate(now: Instant) {
    guard role == .controlling, remoteCredentials != nil else { return }
    let alive = pairs.indices.filter { index in
      pairs[index].generation == generation && pairs[index].isUsable(at: now) && isHealthy(index, now: now)
    }
    // A pending nomination on a silent pair does not block another pair.
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
    lastNominationAt = now
    nominations &+= 1
    pairs[target].nomination = nominations
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

  /// When unsuccessful checking counts as failure. RFC 8863.
  var failureDeadline: Instant? {
    let patient = lastProgressAt + configuration.failedAfter
    guard let checkingSince else {
      // Our restart is unanswered: it fails some time after the old pair is gone.
      return generation > 0 ? patient : nil
    }
    // Without an address there is nothing to check; one may come back.
    guard remoteCandidatesEnded, !localCandidates.isEmpty,
      pairs.allSatisfy({ $0.isFailed || $0.isExpired || $0.generation != generation })
    else {
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
