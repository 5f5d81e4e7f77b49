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
  public internal(set) var role: ICERole
  /// Our credentials of the current generation, for our description.
  public internal(set) var localCredentials: ICECredentials
  /// The peer's credentials of the current generation; nil until its description arrives, and again after our restart.
  public internal(set) var remoteCredentials: ICECredentials?
  /// The candidates passed to `addLocalCandidate`, in order.
  public internal(set) var localCandidates: [ICECandidate] = []
  public internal(set) var state: ICEConnectionState = .new
  /// When `handleTimeout` is due; nil while no timer runs. May be early, never late.
  public internal(set) var nextDeadline: Instant?

  let hashes: any Hashes
  var random: any RandomNumberGenerator & Sendable
  /// RFC 8445 section 16.1.
  var tieBreaker: UInt64

  var generation = 0
  /// The generation whose pair still carries data after a restart.
  var previous: PreviousGeneration?
  /// The peer restarted and we have not yet; our restart then keeps the peer's credentials.
  var remoteRenewedAlone = false

  /// Of the current generation, with known addresses.
  var remoteCandidates: [ICECandidate] = []
  /// Of the peer's relays, where none is accepted.
  var refusedAddresses: Set<TransportAddress> = []
  /// Candidates whose name is being resolved.
  var unresolvedCandidates: [ICECandidate] = []
  /// Candidates received before their description.
  var heldCandidates: [ICECandidate] = []
  var remoteCandidatesEnded = false
  var earlyChecks: [EarlyCheck] = []

  var pairs: [CandidatePair] = []
  var nextPairID = 0
  /// The index of the pair that carries data.
  var selectedIndex: Int?
  /// Whether the selected pair has fallen silent.
  var isWeak = false
  /// The triggered-check queue, oldest first. RFC 8445 section 6.1.4.1.
  var triggered: [Int] = []
  var nextCheckAt: Instant = .zero
  /// The pair whose nomination is pending.
  var nominatingID: Int?
  /// When we nominated a pair last.
  var lastNominationAt: Instant = .zero
  /// Since when there has been a valid pair but no nominated one.
  var firstValidAt: Instant?
  /// How often we have nominated a pair.
  var nominations: UInt32 = 0
  /// Local addresses whose interface carries nothing at the moment.
  var silentBases: Set<TransportAddress> = []
  /// When both sides' credentials of the current generation were known.
  var checkingSince: Instant?
  /// When a candidate or a check last made progress.
  var lastProgressAt: Instant = .zero
  /// What the peer has named is accounted for until then; see `ICEConfiguration.signalledCandidateInterval`.
  var signalledCandidatesPaidUntil: Instant = .zero
  /// Consent for the last working pair ran out.
  var hasLostConsent = false

  private var outputs = FIFO<ICEOutput>()

  struct PreviousGeneration: Sendable {
    var local: ICECredentials
    var remote: ICECredentials
  }

  /// A check that arrived before the peer's credentials. RFC 8445 section 7.3.
  struct EarlyCheck: Sendable {
    var remote: TransportAddress
    var local: TransportAddress
    var remoteUsernameFragment: String
    var priority: UInt32
    var usesCandidate: Bool
    var nomination: UInt32?
  }

  /// - Parameters:
  ///   - role: controlling for the offerer (RFC 8445 section 6.1.1); a conflict is repaired.
  ///   - credentials: ours; random if nil.
  ///   - random: must be unpredictable to peers outside tests: transaction ids and credentials come from it.
  public init(
    role: ICERole, credentials: ICECredentials? = nil, configuration: ICEConfiguration = ICEConfiguration(),
    hashes: any Hashes, random: any RandomNumberGenerator & Sendable
  ) {
    var random = random
    self.role = role
    self.configuration = configuration
    self.hashes = hashes
    tieBreaker = random.next()
    localCredentials = credentials ?? ICECredentials.random(using: &random)
    self.random = random
  }

  /// The next output; nil when there is none.
  public mutating func poll() -> ICEOutput? {
    outputs.popFirst()
  }

  mutating func emit(_ output: ICEOutput) {
    outputs.append(output)
  }

  /// The pair to send data on; nil while nothing may be sent. Set as soon as a pair is valid, before nomination; after
  /// a restart it stays the old one until a new one works.
  public var selectedPair: ICECandidatePair? {
    selectedIndex.map { publicPair(pairs[$0]) }
  }

  /// The selected pair's last round-trip time and the sum of all, as `statistics` has them; nil before the first.
  public var selectedRoundTrip: (latest: Duration, total: Duration)? {
    guard let selectedIndex, let latest = pairs[selectedIndex].currentRoundTripTime else { return nil }
    return (latest, pairs[selectedIndex].totalRoundTripTime)
  }

  /// Our fragments that the peer's requests may carry: after a restart also the old one, until a new pair works.
  public var localUsernameFragments: [String] {
    [localCredentials.usernameFragment] + (previous.map { [$0.local.usernameFragment] } ?? [])
  }

  /// One entry per pair.
  public var statistics: [ICECandidatePairStatistics] {
    pairs.indices.map { index in
      let pair = pairs[index]
      return ICECandidatePairStatistics(
        pair: publicPair(pair), state: pair.statisticsState, isSelected: index == selectedIndex,
        currentRoundTripTime: pair.currentRoundTripTime, totalRoundTripTime: pair.totalRoundTripTime,
        requestsSent: pair.requestsSent, responsesReceived: pair.responsesReceived,
        requestsReceived: pair.requestsReceived, responsesSent: pair.responsesSent,
        consentRequestsSent: pair.consentRequestsSent)
    }
  }

  /// Closes the agent: it sends and accepts nothing from now on.
  public mutating func close() {
    guard state != .closed else { return }
    outputs.removeAll()
    pairs = []
    selectedIndex = nil
    nextDeadline = nil
    state = .closed
    emit(.stateChanged(.closed))
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
    guard let index = pairIndex(ofDataFrom: remote, to: local) else { return }
    pairs[index].lastHeard = now
    pairs[index].lastData = now
    if isWeak
      || index != selectedIndex && (seemsMoved(now: now) || selectedIndex.map { hasLeft($0, now: now) } ?? false)
    {
      advance(now: now)
    }
  }

  private func pairIndex(ofDataFrom remote: TransportAddress, to local: TransportAddress?) -> Int? {
    let selected = selectedIndex.flatMap { pairs[$0].remoteAddress == remote ? $0 : nil }
    if let selected, local == nil || pairs[selected].base == local { return selected }
    return pairs.firstIndex { $0.generation == generation && $0.remoteAddress == remote && $0.base == local }
      ?? selected ?? pairs.firstIndex { $0.generation == generation && $0.remoteAddress == remote }
  }

  /// Whether the peer answered a check at this address and its consent has not expired. Unlike a request, which anyone
  /// can replay from a spoofed address, that proves that the peer is there.
  public func hasValidPair(with remote: TransportAddress) -> Bool {
    pairs.contains { $0.remoteAddress == remote && $0.isSucceeded }
  }

  /// Whether authenticated traffic has arrived from the address.
  public func hasHeard(from remote: TransportAddress) -> Bool {
    pairs.contains { $0.remoteAddress == remote && $0.lastHeard != nil }
  }

  /// Brings the agent up to date after a change or a timeout; each step feeds the next.
  mutating func advance(now: Instant) {
    guard state != .closed else { return }
    runTransactions(now: now)
    superviseSelectedPair(now: now)
    select(now: now)
    nominate(now: now)
    startChecks(now: now)
    updateState(now: now)
    nextDeadline = earliestDeadline(now: now)
  }

  func publicPair(_ pair: CandidatePair) -> ICECandidatePair {
    var local = pair.local
    // RFC 8445 section 7.2.5.3.1: a mapped address that no local candidate has is a peer-reflexive candidate.
    if let mapped = pair.mappedAddress, local.type != .relayed,
      !localCandidates.contains(where: { $0.transportAddress == mapped })
    {
      local = ICECandidate(
        foundation: ICECandidate.foundation(.peerReflexive, base: pair.base.ip),
        priority: Self.peerReflexivePriority(of: pair.local), address: .ip(mapped), type: .peerReflexive,
        relatedAddress: pair.base)
    }
    return ICECandidatePair(
      id: pair.id, local: local, remote: pair.remote, localAddress: pair.base, remoteAddress: pair.remoteAddress,
      priority: pair.priority, nominated: pair.nominated)
  }

  /// The value of PRIORITY: the priority for a peer-reflexive candidate learned from the check. RFC 8445 section 7.1.1.
  static func peerReflexivePriority(of local: ICECandidate) -> UInt32 {
    ICECandidateType.peerReflexive.preference << 24 | local.priority & 0x00ff_ffff
  }

  /// Reads USERNAME (`receiver:sender`) from a Binding request, without checking anything else, so that a shell with
  /// one socket can find the peer: `local` is the receiver's fragment, ours. RFC 8445 section 7.2.2.
  public static func usernameFragments(ofBindingRequest datagram: [UInt8]) -> (local: String, remote: String)? {
    guard STUNMessage.isSTUN(datagram), datagram[0] == 0, datagram[1] == 1 else { return nil }
    var reader = ByteReader(datagram[STUNConstants.headerLength...])
    for _ in 0..<STUNConstants.maximumAttributes {
      guard let type = try? reader.readUInt16(), let length = try? reader.readUInt16(),
        let value = try? reader.readBytes(Int(length))
      else { return nil }
      if type == STUNAttributeType.username.rawValue {
        guard length <= 513, let text = String(validating: value, as: UTF8.self) else { return nil }
        return splitUsername(text)
      }
      guard (try? reader.skip((4 - Int(length) % 4) % 4)) != nil else { return nil }
    }
    return nil
  }

  static func splitUsername(_ text: String) -> (local: String, remote: String)? {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    return (String(text[..<colon]), String(text[text.index(after: colon)...]))
  }
}
