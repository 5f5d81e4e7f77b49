import STUN
import Wire

/// What the peer answers. RFC 8445 section 7.2.5.
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
    // RFC 8489 section 9.1.4: what fails authentication counts as not received; that goes for errors too, so that
    // nobody off the path can fail a pair. Peers leave 400 and 401 unsigned: then the check times out.
    guard let (index, checkIndex) = found, let credentials = credentials(for: pairs[index]),
      response.verifyIntegrity(key: Array(credentials.remote.password.utf8), hashes: hashes)
    else { return }
    let check = pairs[index].checks.remove(at: checkIndex)
    pairs[index].responsesReceived += 1

    if response.messageClass == .errorResponse {
      handleError(response.errorCode ?? 0, to: check, of: index)
      return
    }
    // RFC 8445 section 7.2.5.2.1: source and destination must be those of the request, the other way around.
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
    // RFC 8445 section 7.2.5.1: switch away from the role that the request claimed, unless that has happened meanwhile,
    // and check again.
    switchRole(to: check.role.opposite)
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
      // Renews nothing; consent goes on running out.
      break
    }
  }
}
