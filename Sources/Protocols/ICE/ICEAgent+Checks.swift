import STUN
import Wire

/// Sending checks: pacing, retransmission and the order of the check list. RFC 8445 sections 6.1.4, 7.1 and 7.2.
extension ICEAgent {
  /// Retransmits or times out the transactions that are due.
  mutating func runTransactions(now: Instant) {
    for index in pairs.indices where !pairs[index].checks.isEmpty {
      var check = 0
      while check < pairs[index].checks.count {
        switch pairs[index].checks[check].transaction.handleTimeout(now: now) {
        case nil:
          check += 1
        case .retransmit:
          retransmit(check, of: index)
          check += 1
        case .timedOut:
          let purpose = pairs[index].checks.remove(at: check).purpose
          handleTimedOut(purpose, of: index)
        }
      }
    }
    forgetDeadPeerReflexiveCandidates()
  }

  /// A peer-reflexive candidate whose checks go unanswered is gone (NAT rebinding); the peer's next check from there
  /// would restore it. Otherwise every silence would retry all addresses that the peer ever had.
  private mutating func forgetDeadPeerReflexiveCandidates() {
    let isDead = { [generation] (pair: CandidatePair) in
      pair.isFailed && pair.remote.type == .peerReflexive && pair.generation == generation
    }
    guard pairs.contains(where: isDead) else { return }
    removePairs(where: isDead)
    let alive = Set(pairs.map(\.remoteAddress))
    remoteCandidates.removeAll { candidate in
      candidate.type == .peerReflexive && !(candidate.transportAddress.map(alive.contains) ?? false)
    }
  }

  private mutating func retransmit(_ check: Int, of index: Int) {
    pairs[index].requestsSent += 1
    emit(
      .transmit(
        pairs[index].checks[check].transaction.request, from: pairs[index].base, to: pairs[index].remoteAddress))
  }

  /// RFC 8445 section 7.2.5.2: an unanswered check fails its pair.
  private mutating func handleTimedOut(_ purpose: CandidatePair.Purpose, of index: Int) {
    switch purpose {
    case .connectivity:
      if pairs[index].isInProgress, !pairs[index].checks.contains(where: { $0.purpose == .connectivity }) {
        pairs[index].state = .failed
      }
    case .nomination:
      // RFC 8445 section 8.1.1: the pair leaves the valid list and another one may be nominated.
      if nominatingID == pairs[index].id { nominatingID = nil }
      if index != selectedIndex, pairs[index].isSucceeded { pairs[index].state = .failed }
    case .consent, .probe:
      break
    }
  }

  /// Starts the checks allowed at `now`: all triggered ones, and one ordinary check per Ta.
  mutating func startChecks(now: Instant) {
    guard remoteCredentials != nil else { return }
    if !triggered.isEmpty {
      let ids = triggered
      triggered = []
      for id in ids {
        guard let index = pairs.firstIndex(where: { $0.id == id }), pairs[index].isWaiting else { continue }
        sendConnectivityCheck(index, now: now)
      }
      nextCheckAt = max(nextCheckAt, now + configuration.pacing)
    }
    guard now >= nextCheckAt else { return }
    let waiting = pairs.indices.filter { pairs[$0].isWaiting }
    guard let index = waiting.max(by: { pairs[$0].priority < pairs[$1].priority }) else { return }
    sendConnectivityCheck(index, now: now)
    nextCheckAt = now + configuration.pacing
  }

  private mutating func sendConnectivityCheck(_ index: Int, now: Instant) {
    pairs[index].state = .inProgress
    sendCheck(index, .connectivity, now: now)
  }

  /// RFC 8445 section 6.1.4.1: goes ahead of ordinary checks, because the peer has just shown that its direction of the
  /// path works.
  mutating func trigger(_ index: Int) {
    pairs[index].state = .waiting
    let id = pairs[index].id
    if !triggered.contains(id) { triggered.append(id) }
  }

  /// RFC 8445 section 7.2.2.
  mutating func sendCheck(_ index: Int, _ purpose: CandidatePair.Purpose, now: Instant) {
    let pair = pairs[index]
    guard let credentials = credentials(for: pair) else { return }
    var attributes: [STUNAttribute] = [
      .username("\(credentials.remote.usernameFragment):\(credentials.local.usernameFragment)"),
      .priority(Self.peerReflexivePriority(of: pair.local)),
    ]
    switch role {
    case .controlling:
      attributes.append(.iceControlling(tieBreaker))
      // Later checks of the nominated pair repeat the nomination, in case the peer lost it or changed its mind.
      if purpose == .nomination || pair.nominated {
        attributes.append(.useCandidate)
        // A peer that does not know it ignores it: RFC 8489 section 14.
        if let number = pair.nomination { attributes.append(.nomination(number)) }
      }
    case .controlled:
      attributes.append(.iceControlled(tieBreaker))
    }
    let id = STUNTransactionID.random(using: &random)
    let request = STUNMessage(.request, transactionID: id, attributes: attributes)
      .encode(key: Array(credentials.remote.password.utf8), hashes: hashes)
    let retransmission: STUNRetransmission =
      switch purpose {
      case .connectivity, .nomination: configuration.retransmission
      case .consent, .probe: .once(timeout: configuration.consentExpiry)
      }
    let transaction = STUNClientTransaction(id: id, request: request, retransmission: retransmission, now: now)
    pairs[index].add(CandidatePair.Check(transaction: transaction, purpose: purpose, role: role))
    if purpose == .consent {
      pairs[index].consentRequestsSent += 1
    } else {
      pairs[index].requestsSent += 1
    }
    emit(.transmit(request, from: pair.base, to: pair.remoteAddress))
  }

  /// When the next timer expires; nil if none is running.
  func earliestDeadline(now: Instant) -> Instant? {
    var earliest = Instant.distantFuture
    var isAnyWaiting = false
    for (index, pair) in pairs.enumerated() {
      for check in pair.checks { earliest = min(earliest, check.transaction.deadline) }
      if pair.isWaiting { isAnyWaiting = true }
      if index != selectedIndex, let expiry = pair.consentExpiresAt { earliest = min(earliest, expiry) }
    }
    if isAnyWaiting, remoteCredentials != nil { earliest = min(earliest, nextCheckAt) }
    if let selectedIndex { earliest = min(earliest, supervisionDeadline(of: pairs[selectedIndex])) }
    if let patience = firstValidAt.map({ $0 + configuration.nominationPatience }), patience > now {
      earliest = min(earliest, patience)
    }
    if state == .checking, let failure = failureDeadline { earliest = min(earliest, failure) }
    return earliest == .distantFuture ? nil : max(earliest, now)
  }
}
