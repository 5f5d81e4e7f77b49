import STUN
import Wire

/// Incoming STUN responses. RFC 8445 section 7.2.5.
extension ICEAgent {
  mutating func handleResponse(
    _ response: STUNMessage, from remote: TransportAddress, to local: TransportAddress, now: Instant
  ) {
    var found: (pair: Int, check: Int)?
    for pair in pairs.indices where found == nil {
      if let check = pairs[pair].checks.firstIndex(where: { $0.transaction.id == response.transactionID }) {
        found = (pair, check)
      }
    }
    // RFC 8489 section 9.1.4: a response that fails authentication counts as not received. That includes errors, so
    // that no off-path attacker can fail a pair. Peers do not sign 400 and 401; those checks time out.
    guard let (index, checkIndex) = found, let credentials = credentials(for: pairs[index]),
      response.verifyIntegrity(key: Array(credentials.remote.password.utf8), hashes: hashes)
    else { return }
    let check = pairs[index].checks.remove(at: checkIndex)
    pairs[index].responsesReceived += 1

    if response.messageClass == .errorResponse {
      handleError(response.errorCode ?? 0, to: check, of: index)
      return
    }
    // RFC 8445 section 7.2.5.2.1: source and destination must mirror those of the request.
    let isSymmetric =
      remote == pairs[index].remoteAddress
      && (local.ip.isUnspecified || local == pairs[index].base || !localCandidates.contains { $0.base == local })
    guard isSymmetric, response.unknownComprehensionRequired().isEmpty, let mapped = response.mappedAddress else {
      fail(check, of: index)
      return
    }
    if let roundTrip = check.transaction.roundTripTime(now: now) {
      pairs[index].currentRoundTripTime = roundTrip
      pairs[index].totalRoundTripTime += roundTrip
    }
    pairs[index].mappedAddress = mapped
    pairs[index].lastHeard = now
    lastProgressAt = now
    if !pairs[index].isSucceeded {
      pairs[index].checks.removeAll { $0.purpose == .connectivity }
      if pairs[index].nextConsentCheck == .distantFuture { scheduleConsentCheck(of: index, now: now) }
    }
    // RFC 7675 section 5.1: any valid response renews consent.
    pairs[index].state = .succeeded(consentExpiresAt: now + configuration.consentExpiry)
    guard pairs[index].generation == generation else { return }
    if role == .controlled, pairs[index].nominationAwaitsCheck {
      pairs[index].nominationAwaitsCheck = false
      markNominated(index)
    }
    if check.purpose == .nomination, check.role == .controlling, role == .controlling {
      nominatingID = nil
      markNominated(index)
    }
  }

  private mutating func handleError(_ code: Int, to check: CandidatePair.Check, of index: Int) {
    guard code == 487 else {
      fail(check, of: index)
      return
    }
    // RFC 8445 section 7.2.5.1: switch away from the role claimed in the request, unless already done, and check again with
    // another tie-breaker.
    if role == check.role {
      switchRole(to: check.role.opposite)
      tieBreaker = random.next()
    }
    if check.purpose == .connectivity, pairs[index].isInProgress { trigger(index) }
  }

  private mutating func fail(_ check: CandidatePair.Check, of index: Int) {
    switch check.purpose {
    case .connectivity:
      if pairs[index].isInProgress { pairs[index].state = .failed }
    case .nomination:
      if nominatingID == pairs[index].id { nominatingID = nil }
      if index != selectedIndex, pairs[index].isSucceeded { pairs[index].state = .failed }
    case .consent, .probe:
      // Renews nothing; consent keeps running out.
      break
    }
  }
}
