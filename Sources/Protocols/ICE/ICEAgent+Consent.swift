import Wire

/// Keeping watch over the selected pair: consent (RFC 7675), and whether it still works.
extension ICEAgent {
  mutating func superviseSelectedPair(now: Instant) {
    expire(now: now)
    guard let index = selectedIndex else { return }
    let silence = silentSince(pairs[index])
    let wasWeak = isWeak
    isWeak = now >= silence + configuration.weakAfter
    if isWeak, !wasWeak { reviveSpares(now: now) }
    if now >= pairs[index].nextConsentCheck {
      sendCheck(index, .consent, now: now)
      scheduleConsentCheck(of: index, now: now)
      pairs[index].nextProbe = now + configuration.probeInterval
    } else if now >= silence + configuration.probeAfter, now >= pairs[index].nextProbe {
      sendCheck(index, .probe, now: now)
      pairs[index].nextProbe = now + (isWeak ? configuration.weakProbeInterval : configuration.probeInterval)
    }
  }

  /// RFC 7675 section 5.1: 0.8 to 1.2 times the interval, so that checks of many peers do not come together.
  mutating func scheduleConsentCheck(of index: Int, now: Instant) {
    let factor = Double.random(in: 0.8...1.2, using: &random)
    pairs[index].nextConsentCheck = now + configuration.consentInterval * factor
  }

  private func silentSince(_ pair: CandidatePair) -> Instant {
    pair.lastHeard ?? .zero
  }

  /// Ends what consent has run out for.
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
        // Other pairs that are being checked, and a restart under way, still have their time.
        hasLostConsent = pairs[index].generation == generation && !pairs.contains { $0.isUsable(at: now) }
      } else {
        // Nobody asked for its consent meanwhile; it may be tried again.
        pairs[index].state = .frozen
      }
    }
    if selectedIndex == nil, !pairs.contains(where: { $0.isUsable(at: now) }) { firstValidAt = nil }
  }

  /// The selected pair is silent: every other one gets another chance.
  private mutating func reviveSpares(now: Instant) {
    for index in pairs.indices where pairs[index].generation == generation && index != selectedIndex {
      switch pairs[index].state {
      case .frozen, .failed: pairs[index].state = .waiting
      // What worked is checked again, or it would be taken for dead as the selected one is.
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
    return min(deadline, max(silence + configuration.probeAfter, pair.nextProbe))
  }
}
