public import Wire

/// The role of an agent; the controlling one nominates. RFC 8445 section 4.
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
  /// The selected pair had no authenticated traffic for `ICEConfiguration.weakAfter`; it stays in use, and the state
  /// returns to `connected` when traffic resumes.
  case disconnected
  /// No pair works, or consent has expired; nothing may be sent. A restart starts over.
  case failed
  case closed
}

/// A candidate pair that carries data.
public struct ICECandidatePair: Hashable, Sendable {
  /// Unique within one agent.
  public var id: Int
  /// Peer-reflexive if the peer sees us at an address that we did not know.
  public var local: ICECandidate
  public var remote: ICECandidate
  /// The address to send from: the base of the local candidate.
  public var localAddress: TransportAddress
  public var remoteAddress: TransportAddress
  /// RFC 8445 section 6.1.2.3.
  public var priority: UInt64
  public var nominated: Bool

  /// Data passes through a TURN server.
  public var isRelayed: Bool { local.type == .relayed || remote.type == .relayed }
}

/// Actions and events from an agent, in order.
public enum ICEOutput: Sendable {
  /// One datagram to send. `from` is a hint where the shell has one socket per address family.
  case transmit([UInt8], from: TransportAddress, to: TransportAddress)
  case stateChanged(ICEConnectionState)
  /// Data now uses this pair.
  case selectedPairChanged(ICECandidatePair)
  /// Resolve the mDNS name on the link and pass the result to `addResolved`. May be ignored.
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
  /// Whether it carries data.
  public var isSelected: Bool
  /// From the latest response to a request that was sent only once; nil before the first.
  public var currentRoundTripTime: Duration?
  /// The sum over all such responses.
  public var totalRoundTripTime: Duration
  /// Checks other than consent checks, including retransmissions.
  public var requestsSent: Int
  public var responsesReceived: Int
  public var requestsReceived: Int
  public var responsesSent: Int
  public var consentRequestsSent: Int
}
