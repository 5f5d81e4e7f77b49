import Wire

/// Monitoring of the selected pair: consent (RFC 7675) and liveness.
extension ICEAgent {
  mutating func superviseSelectedPair(now: Instant) {
    expire(now: now)
    guard let index = selectedIndex else { return }
    let silence = silentSince(pairs[index])
    let wasWeak = isWeak
    isWeak = now >= silence + configuration.weakAfter
    if isWeak, !wasWeak { retryOtherPairs(now: now) }
    if now >= pairs[index].nextConsentCheck {
      sendCheck(index, .consent, now: now)
      scheduleConsentCheck(of: index, now: now)
      pairs[index].nextProbe = now + configuration.probeInterval
    } else if now >= silence + configuration.probeAfter, now >= pairs[index].nextProbe {
      sendCheck(index, .probe, now: now)
      pairs[index].nextProbe = now + (isWeak ? configuration.weakProbeInterval : configuration.probeInterval)
    } else if now >= consentRetry(of: pairs[index]), now >= pairs[index].nextProbe {
      sendCheck(index, .probe, now: now)
      pairs[index].nextProbe = now + configuration.weakProbeInterval
    }
  }

  /// When consent should have been renewed.
  private func consentRetry(of pair: CandidatePair) -> Instant {
    pair.consentExpiresAt.map { $0 - configuration.consentExpiry + configuration.consentRetryAfter } ?? .distantFuture
  }

  /// RFC 7675 section 5.1: 0.8 to 1.2 times the interval, so that the checks of many peers do not synchronise.
  mutating func scheduleConsentCheck(of index: Int, now: Instant) {
    let factor = Double.random(in: 0.8...1.2, using: &random)
    pairs[index].nextConsentCheck = now + configuration.consentInterval * factor
  }

  private func silentSince(_ pair: CandidatePair) -> Instant {
    pair.lastHeard ?? .zero
  }

  /// Handles pairs whose consent has expired.
  private mutating func expire(now: Instant) {
    for index in pairs.indices {
      guard let expiry = pairs[index].consentExpiresAt, now >= expiry else { continue }
      pairs[index].checks = []
      pairs[index].nominated = false
      pairs[index].nominationAwaitsCheck = false
      if nominatingID == pairs[index].id { nominatingID = nil }
      if index == selectedIndex {
        pairs[index].state = .consentExpired
        selectedIndex = nil
        isWeak = false
        // Not while another pair is usable or a restart is in progress.
        hasLostConsent = pairs[index].generation == generation && !pairs.contains { $0.isUsable(at: now) }
      } else {
        // Consent is renewed on the selected pair only; this one may be tried again, unless the peer had that address for
        // a while and left it.
        pairs[index].state = pairs[index].remote.type == .peerReflexive ? .failed : .frozen
      }
    }
    if selectedIndex == nil, !pairs.contains(where: { $0.isUsable(at: now) }) { firstValidAt = nil }
  }

  /// The selected pair is silent or gone: gives every other pair another chance.
  mutating func retryOtherPairs(now: Instant) {
    for index in pairs.indices where pairs[index].generation == generation && index != selectedIndex {
      switch pairs[index].state {
      case .frozen, .failed: pairs[index].state = .waiting
      // Recheck a pair that worked before; otherwise it would count as dead, like the selected one.
      case .succeeded:
        if !pairs[index].isAlive(at: now, within: configuration.weakAfter) { pairs[index].state = .waiting }
      case .waiting, .inProgress, .consentExpired: break
      }
    }
  }

  func supervisionDeadline(of pair: CandidatePair) -> Instant {
    let silence = silentSince(pair)
    var deadline = min(pair.nextConsentCheck, pair.consentExpiresAt ?? .distantFuture)
    if !isWeak { deadline = min(deadline, silence + configuration.weakAfter) }
    let probe = min(silence + configuration.probeAfter, consentRetry(of: pair))
    return min(deadline, max(probe, pair.nextProbe))
  }
}
