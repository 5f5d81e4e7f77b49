import STUN
import Wire

/// A pair on the check list. RFC 8445 section 6.1.2.
struct CandidatePair: Sendable {
  /// The states of RFC 8445 section 6.1.2.6, plus loss of consent.
  enum State: Sendable {
    /// A spare, not checked: a better pair is nominated, or this one worked before and its consent lapsed.
    case frozen
    case waiting
    case inProgress
    /// The pair works; sending is allowed until consent expires (RFC 7675).
    case succeeded(consentExpiresAt: Instant)
    case failed
    /// RFC 7675 section 5.1: after consent is lost, the credentials must not be used on this 5-tuple again.
    case consentExpired
  }

  enum Purpose: Sendable {
    case connectivity
    /// Carries USE-CANDIDATE to nominate. RFC 8445 section 8.1.1.
    case nomination
    /// RFC 7675 section 5.1.
    case consent
    /// Tests whether a silent path still works.
    case probe
  }

  /// A request that awaits its response.
  struct Check: Sendable {
    var transaction: STUNClientTransaction
    var purpose: Purpose
    /// The role claimed in the request.
    var role: ICERole
  }

  let id: Int
  /// The restart that the pair belongs to.
  let generation: Int
  var local: ICECandidate
  /// The address that the pair sends from.
  let base: TransportAddress
  var remote: ICECandidate
  let remoteAddress: TransportAddress
  var priority: UInt64
  var state: State = .frozen
  /// Outstanding, oldest first, at most `maximumChecks`.
  var checks: [Check] = []
  var nominated = false
  /// The controlling peer nominated the pair before our own check succeeded. RFC 8445 section 7.3.1.5.
  var nominationAwaitsCheck = false
  /// The number of its nomination: ours, or that of a peer that numbers them.
  var nomination: UInt32?
  /// When the peer last sent USE-CANDIDATE.
  var lastUseCandidateAt: Instant?
  /// Our address as the peer sees it, from the latest response.
  var mappedAddress: TransportAddress?
  /// When authenticated traffic last arrived on this pair.
  var lastHeard: Instant?
  /// The same of media alone.
  var lastData: Instant?
  /// When it was last chosen to carry data.
  var selectedAt: Instant?
  var nextConsentCheck: Instant = .distantFuture
  var nextProbe: Instant = .zero

  var currentRoundTripTime: Duration?
  var totalRoundTripTime: Duration = .zero
  var requestsSent = 0
  var responsesReceived = 0
  var requestsReceived = 0
  var responsesSent = 0
  var consentRequestsSent = 0

  /// Room for the six consent checks of a 30 s silence; further probes evict the oldest check.
  static let maximumChecks = 16

  init(
    id: Int, generation: Int, local: ICECandidate, base: TransportAddress, remote: ICECandidate,
    remoteAddress: TransportAddress, role: ICERole
  ) {
    self.id = id
    self.generation = generation
    self.local = local
    self.base = base
    self.remote = remote
    self.remoteAddress = remoteAddress
    priority = 0
    updatePriority(role: role)
  }

  /// RFC 8445 section 6.1.2.3.
  mutating func updatePriority(role: ICERole) {
    let controlling = UInt64(role == .controlling ? local.priority : remote.priority)
    let controlled = UInt64(role == .controlling ? remote.priority : local.priority)
    priority =
      min(controlling, controlled) << 32 &+ 2 &* max(controlling, controlled) &+ (controlling > controlled ? 1 : 0)
  }

  var isWaiting: Bool { if case .waiting = state { true } else { false } }
  var isInProgress: Bool { if case .inProgress = state { true } else { false } }
  var isFailed: Bool { if case .failed = state { true } else { false } }
  var isExpired: Bool { if case .consentExpired = state { true } else { false } }
  var isSucceeded: Bool { consentExpiresAt != nil }

  var consentExpiresAt: Instant? {
    if case .succeeded(let expiry) = state { expiry } else { nil }
  }

  /// Whether data may be sent at `now`.
  func isUsable(at now: Instant) -> Bool {
    consentExpiresAt.map { now < $0 } ?? false
  }

  func isAlive(at now: Instant, within limit: Duration) -> Bool {
    lastHeard.map { now - $0 < limit } ?? false
  }

  mutating func add(_ check: Check) {
    if checks.count >= Self.maximumChecks { checks.removeFirst() }
    checks.append(check)
  }

  var silentSince: Instant { lastHeard ?? .zero }

  /// How direct the path is: 2 with no NAT on our side and no relay, 1 through NATs, 0 relayed.
  func directness(locals: [ICECandidate]) -> Int {
    if local.type == .relayed || remote.type == .relayed { return 0 }
    guard remote.type != .serverReflexive, let mappedAddress,
      locals.contains(where: { $0.type == .host && $0.transportAddress == mappedAddress })
    else { return 1 }
    return 2
  }

  /// As the agent's user sees it.
  func published(locals: [ICECandidate]) -> ICECandidatePair {
    var shown = local
    // RFC 8445 section 7.2.5.3.1: a mapped address that no local candidate has is a peer-reflexive candidate.
    if let mappedAddress, local.type != .relayed, !locals.contains(where: { $0.transportAddress == mappedAddress }) {
      shown = ICECandidate(
        foundation: ICECandidate.foundation(.peerReflexive, base: base.ip), priority: local.peerReflexivePriority,
        address: .ip(mappedAddress), type: .peerReflexive, relatedAddress: base)
    }
    return ICECandidatePair(
      id: id, local: shown, remote: remote, localAddress: base, remoteAddress: remoteAddress, priority: priority,
      nominated: nominated)
  }

  func statistics(locals: [ICECandidate], isSelected: Bool) -> ICECandidatePairStatistics {
    let shown: ICECandidatePairState =
      switch state {
      case .frozen: .frozen
      case .waiting: .waiting
      case .inProgress: .inProgress
      case .succeeded: .succeeded
      case .failed, .consentExpired: .failed
      }
    return ICECandidatePairStatistics(
      pair: published(locals: locals), state: shown, isSelected: isSelected,
      currentRoundTripTime: currentRoundTripTime, totalRoundTripTime: totalRoundTripTime, requestsSent: requestsSent,
      responsesReceived: responsesReceived, requestsReceived: requestsReceived, responsesSent: responsesSent,
      consentRequestsSent: consentRequestsSent)
  }
}
