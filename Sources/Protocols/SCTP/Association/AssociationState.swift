/// RFC 9260 section 4, without the states that data channels do not distinguish.
enum AssociationState: Sendable {
  /// Nothing sent yet, but an INIT from the peer is answered.
  case idle
  case cookieWait(attempts: Int)
  case cookieEchoed(Peer, cookie: [UInt8], attempts: Int)
  case open(Peer, Phase)
  case closed

  enum Phase: Hashable, Sendable {
    case established
    case shutdownPending
    case shutdownSent(attempts: Int)
    case shutdownReceived
    case shutdownAckSent(attempts: Int)
  }

  /// The peer, as soon as its tag is known.
  var peer: Peer? {
    switch self {
    case .cookieEchoed(let peer, _, _), .open(let peer, _): peer
    case .idle, .cookieWait, .closed: nil
    }
  }

  /// The peer of an open association.
  var openPeer: Peer? {
    if case .open(let peer, _) = self { peer } else { nil }
  }

  /// The phase of an open association; setting it has no effect on any other.
  var phase: Phase? {
    get { if case .open(_, let phase) = self { phase } else { nil } }
    set { if case .open(let peer, _) = self, let newValue { self = .open(peer, newValue) } }
  }

  var isClosed: Bool {
    if case .closed = self { true } else { false }
  }

  /// Whether new messages are accepted.
  var acceptsMessages: Bool {
    switch self {
    case .idle, .cookieWait, .cookieEchoed, .open(_, .established): true
    case .open, .closed: false
    }
  }

  /// Section 9.2: a peer sends no more data after SHUTDOWN.
  var acceptsData: Bool {
    switch phase {
    case .established, .shutdownPending, .shutdownSent: true
    case .shutdownReceived, .shutdownAckSent, nil: false
    }
  }

  var maySendData: Bool {
    switch phase {
    case .established, .shutdownPending, .shutdownReceived: true
    case .shutdownSent, .shutdownAckSent, nil: false
    }
  }
}
