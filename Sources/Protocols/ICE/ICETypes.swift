public import Wire

/// Who nominates. RFC 8445 section 4.
public enum ICERole: Hashable, Sendable {
  case controlling
  case controlled

  var opposite: ICERole { self == .controlling ? .controlled : .controlling }
}

/// The state of an agent, named as W3C's RTCIceConnectionState.
public enum ICEConnectionState: String, Hashable, Sendable {
  /// The peer's credentials or candidates are still missing.
  case new
  /// Pairs are being checked; none works yet.
  case checking
  /// A pair works and data can be sent.
  case connected
  /// The selected pair is nominated and no better one is being checked.
  case completed
  /// Nothing authenticated came over the selected pair for `ICEConfiguration.weakAfter`; it is still in use and
  /// returns to `connected` by itself when something comes.
  case disconnected
  /// No pair works, or consent has expired; nothing may be sent. A restart begins anew.
  case failed
  case closed
}

/// A pair that data is sent over.
public struct ICECandidatePair: Hashable, Sendable {
  /// Distinguishes the pairs of one agent.
  public var id: Int
  /// Peer-reflexive when the peer sees us at an address that we had not known.
  public var local: ICECandidate
  public var remote: ICECandidate
  /// What to send from: the base of the local candidate.
  public var localAddress: TransportAddress
  public var remoteAddress: TransportAddress
  /// RFC 8445 section 6.1.2.3.
  public var priority: UInt64
  public var nominated: Bool
}

/// What an agent wants done or known, in order.
public enum ICEOutput: Sendable {
  /// One datagram to send. `from` is a hint where the shell has one socket per address family.
  case transmit([UInt8], from: TransportAddress, to: TransportAddress)
  case stateChanged(ICEConnectionState)
  /// Data goes over this pair from now on.
  case selectedPairChanged(ICECandidatePair)
  /// Resolve the mDNS name on the link and give what is found to `addResolved`, or let it be.
  case resolve(name: String)
}

/// RTCStatsIceCandidatePairState of W3C webrtc-stats.
public enum ICECandidatePairState: String, Hashable, Sendable {
  case frozen
  case waiting
  case inProgress = "in-progress"
  case failed
  case succeeded
}

/// RTCIceCandidatePairStats of W3C webrtc-stats, as far as the agent knows.
public struct ICECandidatePairStatistics: Hashable, Sendable {
  public var pair: ICECandidatePair
  public var state: ICECandidatePairState
  public var nominated: Bool { pair.nominated }
  /// Whether data goes over it.
  public var isSelected: Bool
  /// From the newest response to a request that was sent once; nil before.
  public var currentRoundTripTime: Duration?
  /// The sum over all such responses.
  public var totalRoundTripTime: Duration
  /// Checks without those for consent, retransmissions included.
  public var requestsSent: Int
  public var responsesReceived: Int
  public var requestsReceived: Int
  public var responsesSent: Int
  public var consentRequestsSent: Int
}
