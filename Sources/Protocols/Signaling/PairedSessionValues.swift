public import SDP

/// How long a parent waits for what.
public struct PairedSessionTiming: Sendable {
  /// For the room's word, once connected to it.
  public var registration: Duration = .seconds(5)
  /// For the child's answer to an offer or a restart; a small board makes one in well under a second.
  public var answer: Duration = .seconds(8)

  public init() {}
}

/// What a parent does next, in order.
public enum PairedParentAction: Hashable, Sendable {
  /// Write it to the room.
  case send(RoomRequest)
  /// The session is open. Give the answer to the peer connection.
  case answered(SessionDescription)
  /// A candidate of the child (attribute text from `candidate:` on).
  case addCandidate(String, sdpMid: String?)
  /// The child has no more candidates.
  case remoteCandidatesComplete
  /// The ICE restart is agreed; this is the child's side.
  case restarted(TrickleFragment)
  /// ICE goes on as it was; a new session is what remains.
  case restartFailed
  /// Something came that was not followed. For the log.
  case refused(SignalingRefusal)
  /// There will be no session. The last word.
  case failed(PairedSessionError)
  /// The session has ended, by us or by the child. The last word.
  case ended(ByeReason)

  init(_ item: PairedCandidates.Item) {
    switch item {
    case .candidate(let text, let mid): self = .addCandidate(text, sdpMid: mid)
    case .end: self = .remoteCandidatesComplete
    }
  }
}

/// Why there is no session with the child.
public enum PairedSessionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The child itself says so, signed.
  case dismissed(ByeReason)
  /// The room server says so, and nobody signs it.
  case room(RoomError)
  case connectionLost
  /// No word in time that could be believed; what came instead, if anything.
  case timedOut(SignalingRefusal?)

  public var description: String {
    switch self {
    case .dismissed(.notPaired): "the child does not know this parent any more; pair again"
    case .dismissed(.expired): "the pairing has expired"
    case .dismissed(.busy): "as many viewers as the child takes are there"
    case .dismissed(.notAcceptable): "the child cannot answer this offer"
    case .dismissed(.goingAway): "the child is stopping"
    case .dismissed(.left): "the child ended the session"
    case .room(let error): "the child's room refuses: \(error)"
    case .connectionLost: "the connection to the child's room was lost"
    case .timedOut(nil): "no answer in time"
    case .timedOut(let refusal?): "no answer of the paired child; what came instead was refused: \(refusal)"
    }
  }
}

/// Names one media session of one parent.
public struct PairedSessionID: Hashable, Sendable {
  /// The parent's id.
  public let parent: String
  /// The parent's 128 random bits; another parent's session of the same name is another one.
  public let session: String
}

/// A parent's verified offer.
public struct PairedOffer: Hashable, Sendable {
  public var session: PairedSessionID
  /// As the parent's pair record is now.
  public var parent: PairedPeer
  public var description: SessionDescription
}

/// What a child does next, in order.
public enum PairedChildAction: Hashable, Sendable {
  /// Send it to this client of the room.
  case send(to: String, message: String)
  /// This client has shown that it is a paired parent; it may stay in the room.
  case vouch(client: String)
  /// Make a session, then call `answer`, or `end` when it cannot be made.
  case offered(PairedOffer)
  /// A candidate of the parent (attribute text from `candidate:` on).
  case addCandidate(PairedSessionID, String, sdpMid: String?)
  /// The parent has no more candidates.
  case remoteCandidatesComplete(PairedSessionID)
  /// Restart ICE with the parent's side, then call `restarted`.
  case restart(PairedSessionID, TrickleFragment)
  /// Close the session.
  case ended(PairedSessionID, ByeReason)
  /// This parent has removed its pair record of us; so may we.
  case unpaired(parent: String)
  /// Something came that was not followed. Log it, and dismiss the client: who is honest has nothing to lose.
  case refused(client: String, SignalingRefusal)

  init(_ item: PairedCandidates.Item, _ session: PairedSessionID) {
    switch item {
    case .candidate(let text, let mid): self = .addCandidate(session, text, sdpMid: mid)
    case .end: self = .remoteCandidatesComplete(session)
    }
  }
}

extension SessionDescription {
  /// From a signed message.
  init(signalled text: String) throws(SignalingRefusal) {
    do throws(SDPError) {
      try self.init(parsing: text)
    } catch {
      throw .badDescription("\(error)")
    }
  }
}

extension TrickleFragment {
  /// From a signed message.
  init(signalled text: String) throws(SignalingRefusal) {
    do throws(SDPError) {
      try self.init(parsing: text)
    } catch {
      throw .badDescription("\(error)")
    }
  }
}
