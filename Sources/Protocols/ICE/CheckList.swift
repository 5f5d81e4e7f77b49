import STUN
import Wire

/// The candidate pairs of an agent: which are checked, which one is nominated and which one carries data. RFC 8445 sections
/// 6.1 and 8.1.
struct CheckList: Sendable {
  private(set) var role: ICERole
  /// The number of restarts. Of older generations only the selected pair is kept.
  private(set) var generation = 0
  private(set) var pairs: [CandidatePair] = []
  /// The index of the pair that carries data.
  private(set) var selectedIndex: Int?
  /// Whether the selected pair has fallen silent.
  private(set) var isWeak = false
  /// Consent for the last working pair ran out.
  private(set) var hasLostConsent = false

  private let configuration: ICEConfiguration
  private var nextID = 0
  /// The triggered-check queue, oldest first. RFC 8445 section 6.1.4.1.
  private var triggered: [Int] = []
  private var nextCheckAt: Instant = .zero
  /// The pair whose nomination is pending.
  private var nominatingID: Int?
  /// When we nominated a pair last.
  private var lastNominationAt: Instant = .zero
  /// Since when there has been a valid pair but no nominated one.
  private var firstValidAt: Instant?
  /// How often we have nominated a pair.
  private var nominations: UInt32 = 0
  /// Local addresses whose interface carries nothing at the moment.
  private var silentBases: Set<TransportAddress> = []

  init(role: ICERole, configuration: ICEConfiguration) {
    self.role = role
    self.configuration = configuration
  }

  subscript(index: Int) -> CandidatePair {
    get { pairs[index] }
    _modify { yield &pairs[index] }
  }

  var selected: CandidatePair? { selectedIndex.map { pairs[$0] } }

  /// The pair of the current generation with these addresses.
  func index(base: TransportAddress, remote: TransportAddress) -> Int? {
    pairs.firstIndex { $0.generation == generation && $0.remoteAddress == remote && $0.base == base }
  }

  func index(ofDataFrom remote: TransportAddress, to local: TransportAddress?) -> Int? {
    let selected = selectedIndex.flatMap { pairs[$0].remoteAddress == remote ? $0 : nil }
    if let selected, local == nil || pairs[selected].base == local { return selected }
    return pairs.firstIndex { $0.generation == generation && $0.remoteAddress == remote && $0.base == local }
      ?? selected ?? pairs.firstIndex { $0.generation == generation && $0.remoteAddress == remote }
  }

  /// The best pair of the current generation with this remote address.
  func best(remote: TransportAddress) -> CandidatePair? {
    let known = pairs.filter { $0.generation == generation && $0.remoteAddress == remote }
    return known.max { ($0.isSucceeded ? 1 : 0, $0.priority) < ($1.isSucceeded ? 1 : 0, $1.priority) }
  }

  // MARK: - Forming and removing

  /// Forms a pair of two candidates that may reach each other. RFC 8445 section 6.1.2.2: same address family, and loopback
  /// only with loopback.
  mutating func form(local: ICECandidate, remote: ICECandidate) {
    guard let base = local.base, let address = remote.transportAddress, base.ip.isIPv6 == address.ip.isIPv6,
      base.ip.isLoopback == address.ip.isLoopback,
      let index = insert(local: local, base: base, remote: remote, remoteAddress: address)
    else { return }
    // RFC 8445 section 8.1.2: once a pair is nominated, only better ones are checked; the rest are spares.
    let nominated = pairs.first { $0.generation == generation && $0.nominated && $0.isSucceeded }
    if nominated.map({ $0.priority < pairs[index].priority }) ?? true || isWeak { pairs[index].state = .waiting }
  }

  /// Inserts a frozen pair and returns its index; nil if there is already one with the same base and remote address
  /// (RFC 8445 section 6.1.2.4), or no room.
  mutating func insert(
    local: ICECandidate, base: TransportAddress, remote: ICECandidate, remoteAddress: TransportAddress
  ) -> Int? {
    guard index(base: base, remote: remoteAddress) == nil else { return nil }
    let pair = CandidatePair(
      id: nextID, generation: generation, local: local, base: base, remote: remote, remoteAddress: remoteAddress,
      role: role)
    if pairs.count >= configuration.maximumPairs {
      guard let index = leastUsefulPair(below: pair.priority) ?? oldestUnprovenPair else { return nil }
      let id = pairs[index].id
      remove { $0.id == id }
    }
    nextID += 1
    pairs.append(pair)
    return pairs.count - 1
  }

  /// RFC 8445 section 6.1.2.5: the idle pair with the lowest priority, failed pairs first.
  private func leastUsefulPair(below priority: UInt64) -> Int? {
    let removable = pairs.indices.filter { index in
      index != selectedIndex && !pairs[index].isSucceeded && !pairs[index].isInProgress && !pairs[index].isExpired
        && (pairs[index].isFailed || pairs[index].priority < priority)
    }
    return removable.min { a, b in
      (pairs[a].isFailed ? 0 : 1, pairs[a].priority) < (pairs[b].isFailed ? 0 : 1, pairs[b].priority)
    }
  }

  /// The peer-reflexive pair that was silent longest and never answered a check. Checks replayed from spoofed addresses
  /// create such pairs, all with the same priority; they must not keep the peer's next address out.
  private var oldestUnprovenPair: Int? {
    let unproven = pairs.indices.filter { index in
      index != selectedIndex && pairs[index].remote.type == .peerReflexive && !pairs[index].isSucceeded
        && !pairs[index].isExpired
    }
    return unproven.min { (pairs[$0].lastHeard ?? .zero) < (pairs[$1].lastHeard ?? .zero) }
  }

  /// All pairs are removed through here, which keeps the stored index and id valid.
  mutating func remove(where shouldRemove: (CandidatePair) -> Bool) {
    let selectedID = selected?.id
    pairs.removeAll(where: shouldRemove)
    selectedIndex = selectedID.flatMap { id in pairs.firstIndex { $0.id == id } }
    if let nominatingID, !pairs.contains(where: { $0.id == nominatingID }) { self.nominatingID = nil }
  }

  /// Removes the failed pairs of peer-reflexive candidates. False if there are none.
  mutating func removeDeadPeerReflexivePairs() -> Bool {
    let isDead = { [generation] (pair: CandidatePair) in
      pair.isFailed && pair.remote.type == .peerReflexive && pair.generation == generation
    }
    guard pairs.contains(where: isDead) else { return false }
    remove(where: isDead)
    return true
  }

  mutating func removeAll() {
    pairs = []
    selectedIndex = nil
  }

  /// Starts a new generation, keeping only the selected pair.
  mutating func beginGeneration() {
    let kept = selected?.id
    remove { $0.id != kept }
    generation += 1
    triggered = []
    nominatingID = nil
    firstValidAt = nil
    hasLostConsent = false
  }

  /// A local address is gone.
  mutating func removeBase(_ base: TransportAddress) {
    silentBases.remove(base)
    remove { $0.base == base }
  }

  /// Whether the interface of a local address carries anything. False if nothing changes.
  mutating func setCarries(_ isCarrying: Bool, base: TransportAddress, now: Instant) -> Bool {
    if isCarrying {
      guard silentBases.remove(base) != nil else { return false }
      for index in pairs.indices where pairs[index].base == base && pairs[index].generation == generation {
        if pairs[index].isFailed { pairs[index].state = .waiting }
      }
    } else {
      guard silentBases.insert(base).inserted else { return false }
      if selected?.base == base { retryOthers(now: now) }
    }
    return true
  }

  /// RFC 8838 section 11: a signalled candidate replaces the peer-reflexive one with the same address.
  mutating func replace(remote address: TransportAddress, by candidate: ICECandidate) {
    for index in pairs.indices where pairs[index].remoteAddress == address && pairs[index].generation == generation {
      pairs[index].remote = candidate
      pairs[index].updatePriority(role: role)
    }
  }

  // MARK: - Checks

  /// Ends a check without success. RFC 8445 section 7.2.5.2: it fails its pair.
  ///
  /// - Parameter isAnswered: by an error; false when it timed out.
  mutating func fail(_ purpose: CandidatePair.Purpose, of index: Int, isAnswered: Bool) {
    switch purpose {
    case .connectivity:
      let isLast = isAnswered || !pairs[index].checks.contains { $0.purpose == .connectivity }
      if pairs[index].isInProgress, isLast { pairs[index].state = .failed }
    case .nomination:
      // RFC 8445 section 8.1.1: the pair leaves the valid list and another one may be nominated.
      if nominatingID == pairs[index].id { nominatingID = nil }
      if index != selectedIndex, pairs[index].isSucceeded { pairs[index].state = .failed }
    case .consent, .probe:
      // Renews nothing; consent keeps running out.
      break
    }
  }

  /// The pairs to be checked at `now`: all triggered ones, and an ordinary one per Ta.
  mutating func startChecks(now: Instant) -> [Int] {
    var started: [Int] = []
    if !triggered.isEmpty {
      for id in triggered {
        guard let index = pairs.firstIndex(where: { $0.id == id }), pairs[index].isWaiting else { continue }
        started.append(index)
        pairs[index].state = .inProgress
      }
      triggered = []
      nextCheckAt = max(nextCheckAt, now + configuration.pacing)
    }
    guard now >= nextCheckAt else { return started }
    let waiting = pairs.indices.filter { pairs[$0].isWaiting }
    guard let index = waiting.max(by: { pairs[$0].priority < pairs[$1].priority }) else { return started }
    pairs[index].state = .inProgress
    nextCheckAt = now + configuration.pacing
    return started + [index]
  }

  /// RFC 8445 section 6.1.4.1: goes ahead of ordinary checks, because the peer has just shown that its direction of the
  /// path works.
  mutating func trigger(_ index: Int) {
    pairs[index].state = .waiting
    let id = pairs[index].id
    if !triggered.contains(id) { triggered.append(id) }
  }

  /// The selected pair is silent or gone: gives every other pair another chance.
  mutating func retryOthers(now: Instant) {
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

  mutating func switchRole(to newRole: ICERole) {
    guard role != newRole else { return }
    role = newRole
    nominatingID = nil
    for index in pairs.indices {
      pairs[index].nominationAwaitsCheck = false
      pairs[index].updatePriority(role: newRole)
    }
  }

  // MARK: - Consent and liveness

  /// Handles pairs whose consent has expired, and notices whether the selected one has fallen silent.
  mutating func supervise(now: Instant) {
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
    guard let selected else {
      if !pairs.contains(where: { $0.isUsable(at: now) }) { firstValidAt = nil }
      return
    }
    let wasWeak = isWeak
    isWeak = now >= selected.silentSince + configuration.weakAfter
    if isWeak, !wasWeak { retryOthers(now: now) }
  }

  /// The check that is due on the selected pair.
  func supervisionCheck(now: Instant) -> (index: Int, purpose: CandidatePair.Purpose, nextProbe: Instant)? {
    guard let selectedIndex else { return nil }
    let pair = pairs[selectedIndex]
    if now >= pair.nextConsentCheck { return (selectedIndex, .consent, now + configuration.probeInterval) }
    guard now >= pair.nextProbe else { return nil }
    if now >= pair.silentSince + configuration.probeAfter {
      return (selectedIndex, .probe, now + (isWeak ? configuration.weakProbeInterval : configuration.probeInterval))
    }
    return now >= consentRetry(of: pair) ? (selectedIndex, .probe, now + configuration.weakProbeInterval) : nil
  }

  /// When consent should have been renewed.
  private func consentRetry(of pair: CandidatePair) -> Instant {
    pair.consentExpiresAt.map { $0 - configuration.consentExpiry + configuration.consentRetryAfter } ?? .distantFuture
  }

  private func supervisionDeadline(of pair: CandidatePair) -> Instant {
    var deadline = min(pair.nextConsentCheck, pair.consentExpiresAt ?? .distantFuture)
    if !isWeak { deadline = min(deadline, pair.silentSince + configuration.weakAfter) }
    let probe = min(pair.silentSince + configuration.probeAfter, consentRetry(of: pair))
    return min(deadline, max(probe, pair.nextProbe))
  }

  /// When the next of these timers expires; `distantFuture` if none is running.
  ///
  /// - Parameter mayCheck: the peer's credentials are known.
  func deadline(mayCheck: Bool, now: Instant) -> Instant {
    var earliest = Instant.distantFuture
    var isAnyWaiting = false
    for (index, pair) in pairs.enumerated() {
      for check in pair.checks { earliest = min(earliest, check.transaction.deadline) }
      if pair.isWaiting { isAnyWaiting = true }
      if index != selectedIndex, let expiry = pair.consentExpiresAt { earliest = min(earliest, expiry) }
    }
    if isAnyWaiting, mayCheck { earliest = min(earliest, nextCheckAt) }
    if let selected { earliest = min(earliest, supervisionDeadline(of: selected)) }
    if let patience = firstValidAt.map({ $0 + configuration.nominationPatience }), patience > now {
      earliest = min(earliest, patience)
    }
    return earliest
  }

  // MARK: - Nomination

  /// Regular nomination. RFC 8445 section 8.1.1. The pair that the controlling side is to nominate now, if any.
  ///
  /// Nominates the best valid pair when no better one is still being checked, when its path is fully direct, or when
  /// `nominationPatience` has elapsed. RFC 8445 forbids a second nomination without a restart; Chromium does it, and
  /// every peer that we know accepts it. We renominate when the nominated pair is silent and another works, or when a
  /// more direct path appears.
  mutating func nominate(locals: [ICECandidate], now: Instant) -> Int? {
    let alive = pairs.indices.filter { index in
      pairs[index].generation == generation && pairs[index].isUsable(at: now) && isHealthy(index, now: now)
    }
    // A pending nomination on a silent pair does not block another pair.
    if let nominatingID, !alive.contains(where: { pairs[$0].id == nominatingID }) { self.nominatingID = nil }
    guard nominatingID == nil else { return nil }
    let best = alive.map { (index: $0, rank: (pairs[$0].directness(locals: locals), pairs[$0].priority)) }
    guard let (target, (directness, _)) = best.max(by: { $0.rank < $1.rank }) else { return nil }
    if let nominated = pairs.firstIndex(where: { $0.nominated && $0.isUsable(at: now) && $0.generation == generation })
    {
      guard nominated != target,
        !alive.contains(nominated) || directness > pairs[nominated].directness(locals: locals)
      else { return nil }
    } else {
      let since = firstValidAt ?? now
      firstValidAt = since
      guard !isImproving(on: pairs[target]) || directness == 2 || now >= since + configuration.nominationPatience
      else { return nil }
    }
    nominatingID = pairs[target].id
    lastNominationAt = now
    nominations &+= 1
    pairs[target].nomination = nominations
    return target
  }

  /// A better pair is still being checked.
  func isImproving(on pair: CandidatePair) -> Bool {
    pairs.contains { ($0.isWaiting || $0.isInProgress) && $0.priority > pair.priority }
  }

  /// The peer has confirmed our nomination of the pair.
  mutating func confirmNomination(of index: Int) {
    nominatingID = nil
    markNominated(index)
  }

  /// RFC 8445 section 7.3.1.5. Chromium and aiortc nominate with their first checks and may nominate several pairs.
  /// Our own parent numbers its nominations, and the highest counts.
  mutating func handleNomination(_ usesCandidate: Bool, _ number: UInt32?, of index: Int, now: Instant) {
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

  // MARK: - Selection

  /// Selects the pair that carries data: among usable pairs, by liveness, nomination and priority, in this order. Returns it
  /// if it is another one.
  ///
  /// RFC 8445 keeps the nominated pair until a restart. Like libwebrtc, this agent leaves a silent pair for one that
  /// works: a restart may not get through when the path is gone. The old generation ends once a pair of the new one works.
  mutating func select(now: Instant) -> Int? {
    let usable = pairs.indices.filter { pairs[$0].generation == generation && pairs[$0].isUsable(at: now) }
    guard var best = usable.max(by: { rank($0, now: now) < rank($1, now: now) }) else { return nil }
    if let selectedIndex, pairs[selectedIndex].generation == generation, pairs[selectedIndex].isUsable(at: now),
      rank(best, now: now) <= rank(selectedIndex, now: now)
    {
      guard let moved = movedPair(from: selectedIndex, among: usable, now: now) else { return nil }
      best = moved
    }
    guard best != selectedIndex else { return nil }
    selectedIndex = best
    pairs[best].selectedAt = now
    isWeak = false
    hasLostConsent = false
    remove { [generation] in $0.generation != generation }
    return selectedIndex
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

  /// Records authenticated data on a pair. True: it may have to be selected, because the peer seems to have left the
  /// selected one.
  mutating func recordData(on index: Int, now: Instant) -> Bool {
    pairs[index].lastHeard = now
    pairs[index].lastData = now
    if isWeak { return true }
    guard let selectedIndex, index != selectedIndex else { return false }
    let seemsMoved =
      role == .controlling && !pairs[selectedIndex].isAlive(at: now, within: configuration.movedAfter)
    return seemsMoved || hasLeft(selectedIndex, now: now)
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
  private func hasLeft(_ index: Int, now: Instant) -> Bool {
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
}
