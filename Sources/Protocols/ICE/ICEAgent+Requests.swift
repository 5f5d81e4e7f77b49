import STUN
public import Wire

/// Incoming STUN messages. RFC 8445 section 7.3.
extension ICEAgent {
  /// Handles a datagram that `STUNMessage.isSTUN` identified as STUN.
  ///
  /// - Parameters:
  ///   - remote: its source address.
  ///   - local: the address that received it. If the shell cannot tell, the unspecified address with the port; it is
  ///     then matched by address family.
  public mutating func handle(
    datagram: [UInt8], from remote: TransportAddress, to local: TransportAddress, now: Instant
  ) {
    guard state != .closed, Self.isReachable(remote), let message = try? STUNMessage(decoding: datagram),
      message.method == .binding, message.hasValidFingerprint != false
    else { return }
    switch message.messageClass {
    case .request: handleRequest(message, bytes: datagram.count, from: remote, to: local, now: now)
    case .successResponse, .errorResponse: handleResponse(message, from: remote, to: local, now: now)
    // RFC 8445 section 11: an unauthenticated keepalive; nothing to do.
    case .indication: return
    }
    advance(now: now)
  }

  private mutating func handleRequest(
    _ request: STUNMessage, bytes: Int, from remote: TransportAddress, to local: TransportAddress, now: Instant
  ) {
    let receiver = receivingCandidate(local, remote: remote)
    let from = receiver?.base ?? local
    // RFC 7675 section 5.1: nothing more on a 5-tuple that has lost consent.
    if let index = pairIndex(base: from, remote: remote), pairs[index].isExpired { return }
    // RFC 8489 section 9.1.3.
    guard let username = request.username, request.integrity != nil else {
      refuse(request, bytes: bytes, code: 400, reason: "Bad Request", from: from, to: remote)
      return
    }
    guard let (isCurrent, credentials, fragment) = localCredentials(forUsername: username),
      request.verifyIntegrity(key: Array(credentials.password.utf8), hashes: hashes)
    else {
      refuse(request, bytes: bytes, code: 401, reason: "Unauthenticated", from: from, to: remote)
      return
    }
    let key = Array(credentials.password.utf8)
    let unknown = request.unknownComprehensionRequired()
    guard unknown.isEmpty else {
      let refusal = request.errorResponse(code: 420, reason: "Unknown Attribute", unknownAttributes: unknown)
      respond(refusal, key: key, from: from, to: remote)
      return
    }
    // RFC 8445 section 7.1.1: a check carries PRIORITY.
    guard let priority = request.priority else {
      respond(request.errorResponse(code: 400, reason: "Bad Request"), key: key, from: from, to: remote)
      return
    }
    guard repairRoleConflict(request) else {
      respond(request.errorResponse(code: 487, reason: "Role Conflict"), key: key, from: from, to: remote)
      return
    }
    let response = STUNMessage(
      .successResponse, transactionID: request.transactionID, attributes: [.xorMappedAddress(remote)])
    respond(response, key: key, integrity: request.integrity, from: from, to: remote)

    guard isCurrent else {
      noteOldCheck(from: remote, now: now)
      return
    }
    guard remoteCredentials != nil, receiver != nil else {
      keepEarlyCheck(
        EarlyCheck(
          remote: remote, local: local, remoteUsernameFragment: fragment, priority: priority,
          usesCandidate: request.usesCandidate, nomination: request.nomination))
      return
    }
    takeCheck(
      from: remote, to: local, priority: priority, usesCandidate: request.usesCandidate, nomination: request.nomination,
      now: now)
  }

  /// Our credentials for a request, by its USERNAME `ours:theirs`; nil if it is not for us. RFC 8445 section 7.3.
  private func localCredentials(
    forUsername username: String
  ) -> (isCurrent: Bool, credentials: ICECredentials, remoteFragment: String)? {
    guard let (local, remote) = Self.splitUsername(username) else { return nil }
    if let previous, local == previous.local.usernameFragment, remote == previous.remote.usernameFragment {
      return (false, previous.local, remote)
    }
    guard local == localCredentials.usernameFragment,
      remoteCredentials.map({ $0.usernameFragment == remote }) ?? true
    else { return nil }
    return (true, localCredentials, remote)
  }

  /// Answers an unauthenticated request, whose source may be spoofed: never with more bytes than it had, so that we
  /// cannot be used for amplification.
  private mutating func refuse(
    _ request: STUNMessage, bytes: Int, code: Int, reason: String, from local: TransportAddress,
    to remote: TransportAddress
  ) {
    let response = request.errorResponse(code: code, reason: reason)
      .encode(integrity: .messageIntegrity, hashes: hashes)
    if response.count <= bytes { emit(.transmit(response, from: local, to: remote)) }
  }

  private mutating func respond(
    _ response: STUNMessage, key: [UInt8], integrity: STUNMessage.Integrity? = nil,
    from local: TransportAddress, to remote: TransportAddress
  ) {
    let bytes = response.encode(key: key, integrity: integrity ?? .messageIntegrity, hashes: hashes)
    emit(.transmit(bytes, from: local, to: remote))
  }

  /// Detects and repairs a role conflict. False: the peer has to switch. RFC 8445 section 7.3.1.1.
  private mutating func repairRoleConflict(_ request: STUNMessage) -> Bool {
    switch role {
    case .controlling:
      guard let theirs = request.iceControlling else { return true }
      if tieBreaker >= theirs { return false }
      switchRole(to: .controlled)
    case .controlled:
      guard let theirs = request.iceControlled else { return true }
      if tieBreaker < theirs { return false }
      switchRole(to: .controlling)
    }
    return true
  }

  mutating func switchRole(to newRole: ICERole) {
    guard role != newRole else { return }
    role = newRole
    nominatingID = nil
    for index in pairs.indices {
      pairs[index].nominationAwaitsCheck = false
      pairs[index].updatePriority(role: newRole)
    }
  }

  private mutating func keepEarlyCheck(_ check: EarlyCheck) {
    if let index = earlyChecks.firstIndex(where: { $0.remote == check.remote && $0.local == check.local }) {
      var renewed = check
      let earlier = earlyChecks.remove(at: index)
      renewed.usesCandidate = check.usesCandidate || earlier.usesCandidate
      renewed.nomination = check.nomination ?? earlier.nomination
      earlyChecks.append(renewed)
    } else {
      // Evict the oldest: replays from spoofed addresses must not keep the peer's next check out.
      if earlyChecks.count >= configuration.maximumEarlyChecks { earlyChecks.removeFirst() }
      earlyChecks.append(check)
    }
  }

  /// Processes the checks that arrived before the credentials or candidates they need.
  mutating func takeEarlyChecks(now: Instant) {
    guard let remoteCredentials, !earlyChecks.isEmpty else { return }
    let checks = earlyChecks
    earlyChecks = []
    for check in checks where check.remoteUsernameFragment == remoteCredentials.usernameFragment {
      if receivingCandidate(check.local, remote: check.remote) == nil {
        keepEarlyCheck(check)
      } else {
        takeCheck(
          from: check.remote, to: check.local, priority: check.priority, usesCandidate: check.usesCandidate,
          nomination: check.nomination, now: now)
      }
    }
  }

  /// Processes an authenticated check that got a success response. RFC 8445 section 7.3.1.
  private mutating func takeCheck(
    from remote: TransportAddress, to local: TransportAddress, priority: UInt32, usesCandidate: Bool,
    nomination: UInt32?, now: Instant
  ) {
    guard let candidate = receivingCandidate(local, remote: remote), let base = candidate.base,
      !refusedAddresses.contains(remote)
    else { return }
    let known = remoteCandidates.first { $0.transportAddress == remote }
    guard let remoteCandidate = known ?? addPeerReflexiveCandidate(remote, priority: priority, now: now),
      let index = pairIndex(base: base, remote: remote)
        ?? insertPair(local: candidate, base: base, remote: remoteCandidate, remoteAddress: remote),
      !pairs[index].isExpired
    else { return }
    pairs[index].requestsReceived += 1
    pairs[index].responsesSent += 1
    pairs[index].lastHeard = now
    if role == .controlled { takeNomination(usesCandidate, nomination, of: index, now: now) }

    // RFC 8445 section 7.3.1.4: triggered checks.
    switch pairs[index].state {
    case .succeeded, .consentExpired: break
    case .inProgress:
      // Retransmit the pending request instead of starting a new transaction, at most once per home round trip.
      if let check = pairs[index].checks.lastIndex(where: { $0.purpose == .connectivity }),
        now - pairs[index].checks[check].transaction.lastSentAt >= .milliseconds(50)
      {
        pairs[index].checks[check].transaction.retransmitEarly(now: now)
        pairs[index].requestsSent += 1
        emit(.transmit(pairs[index].checks[check].transaction.request, from: base, to: remote))
      }
    case .frozen, .waiting, .failed:
      lastProgressAt = now
      trigger(index)
    }
  }

  /// RFC 8445 section 7.3.1.5. Chromium and aiortc nominate with their first checks and may nominate several pairs.
  /// Our own parent numbers its nominations, and the highest counts.
  private mutating func takeNomination(_ usesCandidate: Bool, _ number: UInt32?, of index: Int, now: Instant) {
    if usesCandidate {
      if let number {
        // One that has been overtaken.
        if pairs.contains(where: { $0.generation == generation && $0.nomination ?? 0 > number }) { return }
        pairs[index].nomination = number
      }
      pairs[index].lastUseCandidateAt = now
      if pairs[index].isSucceeded {
        markNominated(index)
      } else {
        pairs[index].nominationAwaitsCheck = true
      }
    } else if pairs[index].nominated || pairs[index].nominationAwaitsCheck {
      // Chromium switches pairs by nominating the new one and omitting USE-CANDIDATE on the old one. A peer that
      // nominates once and then omits it has not nominated another pair since.
      let nominatedAt = pairs[index].lastUseCandidateAt ?? .zero
      let isSuperseded = pairs.contains { pair in
        pair.generation == generation && pair.nominated && pair.isUsable(at: now)
          && pair.lastUseCandidateAt.map { $0 > nominatedAt } ?? false
      }
      if isSuperseded {
        pairs[index].nominated = false
        pairs[index].nominationAwaitsCheck = false
      }
    }
  }

  private mutating func noteOldCheck(from remote: TransportAddress, now: Instant) {
    guard let selectedIndex, pairs[selectedIndex].generation != generation,
      pairs[selectedIndex].remoteAddress == remote
    else { return }
    pairs[selectedIndex].requestsReceived += 1
    pairs[selectedIndex].responsesSent += 1
    pairs[selectedIndex].lastHeard = now
  }

  /// The local candidate that received a datagram: the one whose base is `local`; if the shell cannot tell, one paired
  /// with the sender, or the best of the address family.
  func receivingCandidate(_ local: TransportAddress, remote: TransportAddress) -> ICECandidate? {
    if let exact = localCandidates.first(where: { $0.base == local && $0.type != .serverReflexive })
      ?? localCandidates.first(where: { $0.base == local })
    {
      return exact
    }
    let known = pairs.filter { $0.generation == generation && $0.remoteAddress == remote }
    if let pair = known.max(by: { ($0.isSucceeded ? 1 : 0, $0.priority) < ($1.isSucceeded ? 1 : 0, $1.priority) }) {
      return pair.local
    }
    // Relayed datagrams carry their relayed address, so an unknown one arrived on an address of our own.
    let family = localCandidates.filter { $0.type != .relayed && $0.base?.ip.isIPv6 == remote.ip.isIPv6 }
    return family.filter { $0.base?.ip.isLoopback == remote.ip.isLoopback }.max { $0.priority < $1.priority }
      ?? family.max { $0.priority < $1.priority }
  }
}
