internal import STUN
public import Wire

/// A full ICE agent for one component (RTP with rtcp-mux) of one peer: RFC 8445, with trickle (RFC 8838), consent
/// (RFC 7675) and restart (RFC 8839 section 4.4.1.1.1).
///
/// It owns no sockets and no clock. The shell passes in candidates, STUN datagrams and the time, drains `poll` after
/// every call, and calls `handleTimeout` at `nextDeadline`.
///
/// All pairs start as waiting: freezing by foundation saves checks only with several components, and there is one here.
public struct ICEAgent: Sendable {
  public let configuration: ICEConfiguration
  /// Our credentials of the current generation, for our description.
  public private(set) var localCredentials: ICECredentials
  /// The peer's credentials of the current generation; nil until its description arrives, and again after our restart.
  public private(set) var remoteCredentials: ICECredentials?
  /// The candidates passed to `addLocalCandidate`, in order.
  public private(set) var localCandidates: [ICECandidate] = []
  public private(set) var state: ICEConnectionState = .new
  /// When `handleTimeout` is due; nil while no timer runs. May be early, never late.
  public private(set) var nextDeadline: Instant?

  private let hashes: any Hashes
  private var random: any RandomNumberGenerator & Sendable
  /// RFC 8445 section 16.1.
  private var tieBreaker: UInt64
  /// Those of the generation whose pair still carries data after a restart.
  private var previous: (local: ICECredentials, remote: ICECredentials)?
  /// The peer restarted and we have not yet; our restart then keeps the peer's credentials.
  private var remoteRenewedAlone = false
  private var checkList: CheckList
  private var remoteCandidates: RemoteCandidates
  private var earlyChecks: EarlyChecks
  /// When both sides' credentials of the current generation were known.
  private var checkingSince: Instant?
  /// When a candidate or a check last made progress.
  private var lastProgressAt: Instant = .zero
  private var outputs = FIFO<ICEOutput>()

  /// - Parameters:
  ///   - role: controlling for the offerer (RFC 8445 section 6.1.1); a conflict is repaired.
  ///   - credentials: ours; random if nil.
  ///   - random: must be unpredictable to peers outside tests: transaction ids and credentials come from it.
  public init(
    role: ICERole, credentials: ICECredentials? = nil, configuration: ICEConfiguration = ICEConfiguration(),
    hashes: any Hashes, random: any RandomNumberGenerator & Sendable
  ) {
    var random = random
    self.configuration = configuration
    self.hashes = hashes
    tieBreaker = random.next()
    localCredentials = credentials ?? ICECredentials.random(using: &random)
    self.random = random
    checkList = CheckList(role: role, configuration: configuration)
    remoteCandidates = RemoteCandidates(configuration: configuration)
    earlyChecks = EarlyChecks(maximum: configuration.maximumEarlyChecks)
  }

  public var role: ICERole { checkList.role }

  /// The next output; nil when there is none.
  public mutating func poll() -> ICEOutput? {
    outputs.popFirst()
  }

  /// The pair to send data on; nil while nothing may be sent. Set as soon as a pair is valid, before nomination; after
  /// a restart it stays the old one until a new one works.
  public var selectedPair: ICECandidatePair? {
    checkList.selected?.published(locals: localCandidates)
  }

  /// The selected pair's last round-trip time and the sum of all, as `statistics` has them; nil before the first.
  public var selectedRoundTrip: (latest: Duration, total: Duration)? {
    guard let selected = checkList.selected, let latest = selected.currentRoundTripTime else { return nil }
    return (latest, selected.totalRoundTripTime)
  }

  /// Our fragments that the peer's requests may carry: after a restart also the old one, until a new pair works.
  public var localUsernameFragments: [String] {
    [localCredentials.usernameFragment] + (previous.map { [$0.local.usernameFragment] } ?? [])
  }

  /// One entry per pair.
  public var statistics: [ICECandidatePairStatistics] {
    let selected = checkList.selected?.id
    return checkList.pairs.map { $0.statistics(locals: localCandidates, isSelected: $0.id == selected) }
  }

  /// Closes the agent: it sends and accepts nothing from now on.
  public mutating func close() {
    guard state != .closed else { return }
    outputs.removeAll()
    checkList.removeAll()
    nextDeadline = nil
    state = .closed
    outputs.append(.stateChanged(.closed))
  }

  /// Runs the timers due at `now`. Does nothing if called early.
  public mutating func handleTimeout(now: Instant) {
    guard let nextDeadline, now >= nextDeadline else { return }
    advance(now: now)
  }

  /// Records authenticated data (not STUN) from the peer: the path is alive. This does not renew consent (RFC 7675
  /// section 5.1). Cheap enough to call for every packet.
  ///
  /// - Parameter local: the address that received it; nil or any other address if the shell cannot tell.
  public mutating func noteReceived(from remote: TransportAddress, to local: TransportAddress? = nil, now: Instant) {
    guard let index = checkList.index(ofDataFrom: remote, to: local) else { return }
    if checkList.recordData(on: index, now: now) { advance(now: now) }
  }

  /// Whether the peer answered a check at this address and its consent has not expired. Unlike a request, which anyone
  /// can replay from a spoofed address, that proves that the peer is there.
  public func hasValidPair(with remote: TransportAddress) -> Bool {
    checkList.pairs.contains { $0.remoteAddress == remote && $0.isSucceeded }
  }

  /// Whether authenticated traffic has arrived from the address.
  public func hasHeard(from remote: TransportAddress) -> Bool {
    checkList.pairs.contains { $0.remoteAddress == remote && $0.lastHeard != nil }
  }

  /// Brings the agent up to date after a change or a timeout; each step feeds the next.
  private mutating func advance(now: Instant) {
    guard state != .closed else { return }
    runTransactions(now: now)
    superviseSelectedPair(now: now)
    select(now: now)
    if role == .controlling, remoteCredentials != nil,
      let target = checkList.nominate(locals: localCandidates, now: now)
    {
      sendCheck(target, .nomination, now: now)
    }
    if remoteCredentials != nil {
      for index in checkList.startChecks(now: now) { sendCheck(index, .connectivity, now: now) }
    }
    updateState(now: now)
    var earliest = checkList.deadline(mayCheck: remoteCredentials != nil, now: now)
    if state == .checking, let failureDeadline { earliest = min(earliest, failureDeadline) }
    nextDeadline = earliest == .distantFuture ? nil : max(earliest, now)
  }

  // MARK: - Candidates. RFC 8445 section 5, RFC 8838 sections 10 and 11

  /// Adds a local candidate and starts checking its pairs. Ignored if its address is known, it is not UDP, or it
  /// exceeds `maximumLocalCandidates`.
  public mutating func addLocalCandidate(_ candidate: ICECandidate, now: Instant) {
    guard state != .closed, candidate.transport == .udp, candidate.component == 1,
      localCandidates.count < configuration.maximumLocalCandidates,
      let address = candidate.transportAddress, let base = candidate.base, address.isReachable,
      !localCandidates.contains(where: { $0.transportAddress == address && $0.base == base })
    else { return }
    localCandidates.append(candidate)
    lastProgressAt = now
    for remote in remoteCandidates.known { checkList.form(local: candidate, remote: remote) }
    takeEarlyChecks(now: now)
    advance(now: now)
  }

  /// An address of ours is gone, and so are its pairs. Another pair takes over at once if there is one; otherwise every
  /// address of the peer is tried again from those that we have, and from those that are added.
  ///
  /// RFC 8445 section 9 leaves changed addresses to a restart; until it has been agreed, checks from the new address already
  /// let the peer's answers through: it learns that address from them.
  public mutating func removeLocalCandidate(base: TransportAddress, now: Instant) {
    guard state != .closed, localCandidates.contains(where: { $0.base == base }) else { return }
    localCandidates.removeAll { $0.base == base }
    checkList.removeBase(base)
    earlyChecks.remove { $0.local == base }
    if checkList.selected == nil { previous = nil }
    lastProgressAt = now
    checkList.retryOthers(now: now)
    advance(now: now)
  }

  /// An address of ours carries nothing at the moment, because its interface has lost its carrier, or does again. Its pairs
  /// stay: a short loss of Wi-Fi needs no new path.
  public mutating func setCarries(_ isCarrying: Bool, base: TransportAddress, now: Instant) {
    guard state != .closed, localCandidates.contains(where: { $0.base == base }),
      checkList.setCarries(isCarrying, base: base, now: now)
    else { return }
    // Is the peer still there?
    if isCarrying, let index = checkList.selectedIndex, checkList[index].base == base {
      sendCheck(index, .probe, now: now)
    }
    advance(now: now)
  }

  /// Sets the credentials from the peer's description and processes candidates and checks that arrived earlier. Changed
  /// credentials mean an ICE restart by the peer (RFC 8839 section 4.4.1.1.1): the selected pair stays in use until a
  /// pair of the new generation works. Call `restart` for our own new credentials, before or after.
  public mutating func setRemoteCredentials(_ credentials: ICECredentials, now: Instant) {
    guard state != .closed, credentials != remoteCredentials else { return }
    if remoteCredentials != nil {
      beginGeneration()
      remoteRenewedAlone = true
    }
    remoteCredentials = credentials
    checkingSince = now
    lastProgressAt = now
    for candidate in remoteCandidates.takeHeld() { takeRemoteCandidate(candidate, now: now) }
    takeEarlyChecks(now: now)
    advance(now: now)
  }

  /// Adds a remote candidate. Unusable ones (TCP, another component, an unreachable address) are ignored; those of
  /// another generation, or without a description yet, are held for later. A `.local` name is emitted as
  /// `ICEOutput.resolve`; other names are ignored (RFC 8839 section 5.1 allows that).
  public mutating func addRemoteCandidate(_ candidate: ICECandidate, now: Instant) {
    guard state != .closed, candidate.transport == .udp, candidate.component == 1 else { return }
    let isOfAnotherGeneration =
      candidate.usernameFragment.map { $0 != remoteCredentials?.usernameFragment } ?? false
    guard remoteCredentials != nil, !isOfAnotherGeneration else { return remoteCandidates.hold(candidate) }
    takeRemoteCandidate(candidate, now: now)
    advance(now: now)
  }

  /// The peer signalled end-of-candidates. RFC 8838 section 14.
  public mutating func endOfRemoteCandidates(now: Instant) {
    remoteCandidates.haveEnded = true
    advance(now: now)
  }

  /// Supplies an address for a name from `ICEOutput.resolve`. May be called once per address.
  public mutating func addResolved(name: String, address: IPAddress, now: Instant) {
    for candidate in remoteCandidates.resolved(name: name, address: address) {
      takeRemoteCandidate(candidate, now: now)
    }
    advance(now: now)
  }

  private mutating func takeRemoteCandidate(_ candidate: ICECandidate, now: Instant) {
    if let fragment = candidate.usernameFragment, fragment != remoteCredentials?.usernameFragment { return }
    switch remoteCandidates.add(candidate, &checkList, now: now) {
    case .ignored: break
    case .unresolved(let name):
      lastProgressAt = now
      outputs.append(.resolve(name: name))
    case .refused(let address):
      earlyChecks.remove { $0.remote == address }
      checkList.remove { $0.remoteAddress == address }
      advance(now: now)
    case .replaced(let address):
      checkList.replace(remote: address, by: candidate)
      // The check that taught us of it came to one of our addresses; it may be reached from the others, too.
      for local in localCandidates { checkList.form(local: local, remote: candidate) }
    case .added:
      lastProgressAt = now
      for local in localCandidates { checkList.form(local: local, remote: candidate) }
    }
  }

  // MARK: - Restart. RFC 8445 section 9, RFC 8839 section 4.4.1.1.1

  /// Starts a new generation and returns our new credentials. Local candidates, role and tie-breaker are kept. The
  /// selected pair stays in use, with its old credentials, until a pair of the new generation works.
  public mutating func restart(now: Instant) -> ICECredentials {
    guard state != .closed else { return localCredentials }
    // If the peer restarted first, its credentials and candidates are already known; ours complete that restart.
    let renewed = remoteRenewedAlone ? remoteCredentials : nil
    beginGeneration(isNamed: renewed != nil)
    localCredentials = ICECredentials.random(using: &random)
    remoteCredentials = renewed
    checkingSince = renewed == nil ? nil : now
    lastProgressAt = now
    for local in localCandidates {
      for remote in remoteCandidates.known { checkList.form(local: local, remote: remote) }
    }
    advance(now: now)
    return localCredentials
  }

  /// Ends the current generation, keeping only the selected pair.
  ///
  /// - Parameter isNamed: the peer has named its candidates of the new one already.
  private mutating func beginGeneration(isNamed: Bool = false) {
    if let selected = checkList.selected {
      if let remoteCredentials, selected.generation == checkList.generation {
        previous = (localCredentials, remoteCredentials)
      }
    } else {
      previous = nil
    }
    checkList.beginGeneration()
    remoteCandidates.beginGeneration(isNamed: isNamed)
    _ = earlyChecks.takeAll()
    remoteRenewedAlone = false
  }

  /// The credentials of the pair's generation; nil while the peer's are missing.
  private func credentials(for pair: CandidatePair) -> (local: ICECredentials, remote: ICECredentials)? {
    if pair.generation == checkList.generation { return remoteCredentials.map { (localCredentials, $0) } }
    return previous
  }

  // MARK: - Sending checks. RFC 8445 sections 6.1.4, 7.1 and 7.2

  /// Retransmits or times out the transactions that are due.
  private mutating func runTransactions(now: Instant) {
    for index in checkList.pairs.indices where !checkList[index].checks.isEmpty {
      var check = 0
      while check < checkList[index].checks.count {
        switch checkList[index].checks[check].transaction.handleTimeout(now: now) {
        case nil:
          check += 1
        case .retransmit:
          retransmit(check, of: index)
          check += 1
        case .timedOut:
          let purpose = checkList[index].checks.remove(at: check).purpose
          checkList.fail(purpose, of: index, isAnswered: false)
        }
      }
    }
    remoteCandidates.forgetDeadPeerReflexive(&checkList)
  }

  private mutating func retransmit(_ check: Int, of index: Int) {
    checkList[index].requestsSent += 1
    let pair = checkList[index]
    transmit(pair.checks[check].transaction.request, from: pair.base, to: pair.remoteAddress)
  }

  private mutating func transmit(_ bytes: [UInt8], from local: TransportAddress, to remote: TransportAddress) {
    outputs.append(.transmit(bytes, from: local, to: remote))
  }

  /// RFC 8445 section 7.2.2.
  private mutating func sendCheck(_ index: Int, _ purpose: CandidatePair.Purpose, now: Instant) {
    let pair = checkList[index]
    guard let credentials = credentials(for: pair) else { return }
    var attributes: [STUNAttribute] = [
      .username("\(credentials.remote.usernameFragment):\(credentials.local.usernameFragment)"),
      .priority(pair.local.peerReflexivePriority),
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
    checkList[index].add(CandidatePair.Check(transaction: transaction, purpose: purpose, role: role))
    if purpose == .consent {
      checkList[index].consentRequestsSent += 1
    } else {
      checkList[index].requestsSent += 1
    }
    transmit(request, from: pair.base, to: pair.remoteAddress)
  }

  /// Consent (RFC 7675) and liveness.
  private mutating func superviseSelectedPair(now: Instant) {
    checkList.supervise(now: now)
    guard let check = checkList.supervisionCheck(now: now) else { return }
    sendCheck(check.index, check.purpose, now: now)
    if check.purpose == .consent { scheduleConsentCheck(of: check.index, now: now) }
    checkList[check.index].nextProbe = check.nextProbe
  }

  /// RFC 7675 section 5.1: 0.8 to 1.2 times the interval, so that the checks of many peers do not synchronise.
  private mutating func scheduleConsentCheck(of index: Int, now: Instant) {
    let factor = Double.random(in: 0.8...1.2, using: &random)
    checkList[index].nextConsentCheck = now + configuration.consentInterval * factor
  }

  // MARK: - Incoming requests. RFC 8445 section 7.3

  /// Handles a datagram that `STUNMessage.isSTUN` identified as STUN.
  ///
  /// - Parameters:
  ///   - remote: its source address.
  ///   - local: the address that received it. If the shell cannot tell, the unspecified address with the port; it is
  ///     then matched by address family.
  public mutating func handle(
    datagram: [UInt8], from remote: TransportAddress, to local: TransportAddress, now: Instant
  ) {
    guard state != .closed, remote.isReachable, let message = try? STUNMessage(decoding: datagram),
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
    if let index = checkList.index(base: from, remote: remote), checkList[index].isExpired { return }
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
      return respond(refusal, key: key, from: from, to: remote)
    }
    // RFC 8445 section 7.1.1: a check carries PRIORITY.
    guard let priority = request.priority else {
      return respond(request.errorResponse(code: 400, reason: "Bad Request"), key: key, from: from, to: remote)
    }
    guard repairRoleConflict(request) else {
      return respond(request.errorResponse(code: 487, reason: "Role Conflict"), key: key, from: from, to: remote)
    }
    let response = STUNMessage(
      .successResponse, transactionID: request.transactionID, attributes: [.xorMappedAddress(remote)])
    respond(response, key: key, integrity: request.integrity, from: from, to: remote)

    guard isCurrent else { return recordOldCheck(from: remote, now: now) }
    let check = PeerCheck(
      remote: remote, local: local, remoteUsernameFragment: fragment, priority: priority,
      usesCandidate: request.usesCandidate, nomination: request.nomination)
    if remoteCredentials != nil, receiver != nil {
      handle(check, now: now)
    } else {
      earlyChecks.keep(check)
    }
  }

  /// Our credentials for a request, by its USERNAME `ours:theirs`; nil if it is not for us. RFC 8445 section 7.3.
  private func localCredentials(
    forUsername username: String
  ) -> (isCurrent: Bool, credentials: ICECredentials, remoteFragment: String)? {
    guard let name = ICEUsername(username) else { return nil }
    if let previous, name.local == previous.local.usernameFragment, name.remote == previous.remote.usernameFragment {
      return (false, previous.local, name.remote)
    }
    guard name.local == localCredentials.usernameFragment,
      remoteCredentials.map({ $0.usernameFragment == name.remote }) ?? true
    else { return nil }
    return (true, localCredentials, name.remote)
  }

  /// Answers an unauthenticated request, whose source may be spoofed: never with more bytes than it had, so that we
  /// cannot be used for amplification.
  private mutating func refuse(
    _ request: STUNMessage, bytes: Int, code: Int, reason: String, from local: TransportAddress,
    to remote: TransportAddress
  ) {
    let response = request.errorResponse(code: code, reason: reason)
      .encode(integrity: .messageIntegrity, hashes: hashes)
    if response.count <= bytes { transmit(response, from: local, to: remote) }
  }

  private mutating func respond(
    _ response: STUNMessage, key: [UInt8], integrity: STUNMessage.Integrity? = nil, from local: TransportAddress,
    to remote: TransportAddress
  ) {
    let bytes = response.encode(key: key, integrity: integrity ?? .messageIntegrity, hashes: hashes)
    transmit(bytes, from: local, to: remote)
  }

  /// Detects and repairs a role conflict. False: the peer has to switch. RFC 8445 section 7.3.1.1.
  private mutating func repairRoleConflict(_ request: STUNMessage) -> Bool {
    switch role {
    case .controlling:
      guard let theirs = request.iceControlling else { return true }
      if tieBreaker >= theirs { return false }
    case .controlled:
      guard let theirs = request.iceControlled else { return true }
      if tieBreaker < theirs { return false }
    }
    checkList.switchRole(to: role.opposite)
    return true
  }

  /// Processes the checks that arrived before the credentials or candidates they need.
  private mutating func takeEarlyChecks(now: Instant) {
    guard let remoteCredentials else { return }
    for check in earlyChecks.takeAll() where check.remoteUsernameFragment == remoteCredentials.usernameFragment {
      if receivingCandidate(check.local, remote: check.remote) == nil {
        earlyChecks.keep(check)
      } else {
        handle(check, now: now)
      }
    }
  }

  /// Processes an authenticated check that got a success response. RFC 8445 section 7.3.1.
  private mutating func handle(_ check: PeerCheck, now: Instant) {
    guard let receiver = receivingCandidate(check.local, remote: check.remote), let base = receiver.base,
      !remoteCandidates.isRefused(check.remote)
    else { return }
    var known = remoteCandidates.known.first { $0.transportAddress == check.remote }
    if known == nil {
      known = remoteCandidates.addPeerReflexive(check.remote, priority: check.priority, &checkList)
      if known != nil { lastProgressAt = now }
    }
    guard let known,
      let index = checkList.index(base: base, remote: check.remote)
        ?? checkList.insert(local: receiver, base: base, remote: known, remoteAddress: check.remote),
      !checkList[index].isExpired
    else { return }
    checkList[index].requestsReceived += 1
    checkList[index].responsesSent += 1
    checkList[index].lastHeard = now
    if role == .controlled { checkList.handleNomination(check.usesCandidate, check.nomination, of: index, now: now) }

    // RFC 8445 section 7.3.1.4: triggered checks.
    switch checkList[index].state {
    case .succeeded, .consentExpired: break
    case .inProgress:
      // Retransmit the pending request instead of starting a new transaction, at most once per home round trip.
      if let pending = checkList[index].checks.lastIndex(where: { $0.purpose == .connectivity }),
        now - checkList[index].checks[pending].transaction.lastSentAt >= .milliseconds(50)
      {
        checkList[index].checks[pending].transaction.retransmitEarly(now: now)
        retransmit(pending, of: index)
      }
    case .frozen, .waiting, .failed:
      lastProgressAt = now
      checkList.trigger(index)
    }
  }

  /// A check of the generation before the restart, whose pair is still in use.
  private mutating func recordOldCheck(from remote: TransportAddress, now: Instant) {
    guard let index = checkList.selectedIndex, checkList[index].generation != checkList.generation,
      checkList[index].remoteAddress == remote
    else { return }
    checkList[index].requestsReceived += 1
    checkList[index].responsesSent += 1
    checkList[index].lastHeard = now
  }

  /// The local candidate that received a datagram: the one whose base is `local`; if the shell cannot tell, one paired
  /// with the sender, or the best of the address family.
  private func receivingCandidate(_ local: TransportAddress, remote: TransportAddress) -> ICECandidate? {
    if let exact = localCandidates.first(where: { $0.base == local && $0.type != .serverReflexive })
      ?? localCandidates.first(where: { $0.base == local })
    {
      return exact
    }
    if let pair = checkList.best(remote: remote) { return pair.local }
    // Relayed datagrams carry their relayed address, so an unknown one arrived on an address of our own.
    let family = localCandidates.filter { $0.type != .relayed && $0.base?.ip.isIPv6 == remote.ip.isIPv6 }
    return family.filter { $0.base?.ip.isLoopback == remote.ip.isLoopback }.max { $0.priority < $1.priority }
      ?? family.max { $0.priority < $1.priority }
  }

  // MARK: - Incoming responses. RFC 8445 section 7.2.5

  private mutating func handleResponse(
    _ response: STUNMessage, from remote: TransportAddress, to local: TransportAddress, now: Instant
  ) {
    let isAnswered = { (check: CandidatePair.Check) in check.transaction.id == response.transactionID }
    // RFC 8489 section 9.1.4: a response that fails authentication counts as not received. That includes errors, so
    // that no off-path attacker can fail a pair. Peers do not sign 400 and 401; those checks time out.
    guard let index = checkList.pairs.firstIndex(where: { $0.checks.contains(where: isAnswered) }),
      let checkIndex = checkList[index].checks.firstIndex(where: isAnswered),
      let credentials = credentials(for: checkList[index]),
      response.verifyIntegrity(key: Array(credentials.remote.password.utf8), hashes: hashes)
    else { return }
    let check = checkList[index].checks.remove(at: checkIndex)
    checkList[index].responsesReceived += 1

    if response.messageClass == .errorResponse {
      handleError(response.errorCode ?? 0, to: check, of: index)
      return
    }
    let pair = checkList[index]
    // RFC 8445 section 7.2.5.2.1: source and destination must mirror those of the request.
    let isSymmetric =
      remote == pair.remoteAddress
      && (local.ip.isUnspecified || local == pair.base || !localCandidates.contains { $0.base == local })
    guard isSymmetric, response.unknownComprehensionRequired().isEmpty, let mapped = response.mappedAddress else {
      checkList.fail(check.purpose, of: index, isAnswered: true)
      return
    }
    if let roundTrip = check.transaction.roundTripTime(now: now) {
      checkList[index].currentRoundTripTime = roundTrip
      checkList[index].totalRoundTripTime += roundTrip
    }
    checkList[index].mappedAddress = mapped
    checkList[index].lastHeard = now
    lastProgressAt = now
    if !pair.isSucceeded {
      checkList[index].checks.removeAll { $0.purpose == .connectivity }
      if pair.nextConsentCheck == .distantFuture { scheduleConsentCheck(of: index, now: now) }
    }
    // RFC 7675 section 5.1: any valid response renews consent.
    checkList[index].state = .succeeded(consentExpiresAt: now + configuration.consentExpiry)
    guard pair.generation == checkList.generation else { return }
    if role == .controlled, pair.nominationAwaitsCheck {
      checkList[index].nominationAwaitsCheck = false
      checkList.markNominated(index)
    }
    if check.purpose == .nomination, check.role == .controlling, role == .controlling {
      checkList.confirmNomination(of: index)
    }
  }

  private mutating func handleError(_ code: Int, to check: CandidatePair.Check, of index: Int) {
    guard code == 487 else { return checkList.fail(check.purpose, of: index, isAnswered: true) }
    // RFC 8445 section 7.2.5.1: switch away from the role claimed in the request, unless already done, and check again with
    // another tie-breaker.
    if role == check.role {
      checkList.switchRole(to: check.role.opposite)
      tieBreaker = random.next()
    }
    if check.purpose == .connectivity, checkList[index].isInProgress { checkList.trigger(index) }
  }

  // MARK: - Selection and state. RFC 8445 sections 8.1 and 12.1

  private mutating func select(now: Instant) {
    guard let index = checkList.select(now: now) else { return }
    if checkList[index].nextConsentCheck < now { scheduleConsentCheck(of: index, now: now) }
    previous = nil
    outputs.append(.selectedPairChanged(checkList[index].published(locals: localCandidates)))
  }

  /// When unsuccessful checking counts as failure. RFC 8863.
  private var failureDeadline: Instant? {
    let patient = lastProgressAt + configuration.failedAfter
    guard let checkingSince else {
      // Our restart is unanswered: it fails some time after the old pair is gone.
      return checkList.generation > 0 ? patient : nil
    }
    // Without an address there is nothing to check; one may come back.
    guard remoteCandidates.haveEnded, !localCandidates.isEmpty,
      checkList.pairs.allSatisfy({ $0.isFailed || $0.isExpired || $0.generation != checkList.generation })
    else {
      return patient
    }
    return min(patient, max(checkingSince, lastProgressAt) + configuration.failedAfterEndOfCandidates)
  }

  private mutating func updateState(now: Instant) {
    let next = currentState(now: now)
    guard next != state else { return }
    state = next
    outputs.append(.stateChanged(next))
  }

  private func currentState(now: Instant) -> ICEConnectionState {
    if let pair = checkList.selected {
      if checkList.isWeak { return .disconnected }
      let isFinal = pair.nominated && pair.generation == checkList.generation && !checkList.isImproving(on: pair)
      return isFinal ? .completed : .connected
    }
    if checkList.hasLostConsent { return .failed }
    if remoteCredentials == nil, checkList.generation == 0 { return state == .new ? .new : .checking }
    if let failureDeadline, now >= failureDeadline { return .failed }
    return .checking
  }
}
