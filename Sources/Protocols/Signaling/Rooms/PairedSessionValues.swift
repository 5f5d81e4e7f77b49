public import SDP
public import Wire

/// How long a parent waits for replies.
public struct PairedSessionTiming: Sendable {
  /// For the room's reply to `register`.
  public var registration: Duration = .seconds(5)
  /// For the child's answer to an offer or a restart; a small board makes one in well under a second.
  public var answer: Duration = .seconds(8)

  public init() {}
}

/// Actions for a parent's shell, in order.
public enum PairedParentAction: Hashable, Sendable {
  /// Write it to the room.
  case send(RoomRequest)
  /// The session is open. Give the answer to the peer connection.
  case answered(SessionDescription)
  /// An open session is connected to the room again.
  case attached
  /// By the presence at the meeting place the child's program has begun again and knows no session of before. The presence may
  /// be an old one that the place repeats: the session has ended if nothing comes in it either.
  case replaced
  /// Servers that the meeting place gives us for this session.
  case iceServers([ICEServerDocument])
  /// A candidate of the child (attribute text from `candidate:` on).
  case addCandidate(String, sdpMid: String?)
  /// The child has no more candidates.
  case remoteCandidatesComplete
  /// The ICE restart is agreed; this is the child's side.
  case restarted(TrickleFragment)
  /// ICE stays as it was; only a new session can help.
  case restartFailed
  /// A message was refused. For the log.
  case refused(SignalingRefusal)
  /// There is no session. The last action.
  case failed(PairedSessionError)
  /// The session has ended, by us or by the child. The last action.
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
  /// The child's signed refusal.
  case dismissed(ByeReason)
  /// The room server's refusal, which is not signed.
  case room(RoomError)
  case connectionLost
  /// The child is not at this meeting place.
  case absent
  /// What the meeting place says of the child is not true or too old.
  case noPresence(SignalingRefusal)
  /// No authentic reply in time; why the last reply was refused, if there was one.
  case timedOut(SignalingRefusal?)

  /// The child has said so. All else may be the doing of the room or meeting place alone.
  public var isOfChild: Bool {
    if case .dismissed = self { true } else { false }
  }

  public var description: String {
    switch self {
    case .dismissed(.notPaired): "the child no longer knows this parent; pair again"
    case .dismissed(.expired): "the pairing has expired"
    case .dismissed(.busy): "all viewer slots are in use, or this device connects too often; try again in a few seconds"
    case .dismissed(.notAcceptable): "the child cannot answer this offer"
    case .dismissed(.goingAway): "the child is stopping"
    case .dismissed(.left): "the child ended the session"
    case .dismissed(.notStored):
      "the camera has removed this device, but could not store that; is its disk full? It tries again; until it succeeds, a "
        + "restart of the camera brings the pairing back"
    case .room(let error) where error.code == .noSuchRoom: "another child answers there"
    case .room(let error) where error.code == .undelivered: error.message
    case .room(let error): "it refuses, in its own words and not the child's: “\(error)”"
    case .absent: "the child is not there"
    case .noPresence(let reason): "what stands there for the child does not count: \(reason)"
    case .connectionLost: "the connection to the child's room was lost"
    case .timedOut(nil): "no answer in time"
    case .timedOut(let refusal?): "no answer of the paired child; another message was refused: \(refusal)"
    }
  }
}

/// Identifies one media session of one parent.
public struct PairedSessionID: Hashable, Sendable {
  /// The parent's id.
  public let parent: String
  /// The parent's 128 random bits; unique only together with the parent.
  public let session: String
}

/// A parent's verified offer.
public struct PairedOffer: Hashable, Sendable {
  public var session: PairedSessionID
  /// The client of the room that sent it.
  public var client: RoomClient
  /// From the parent's current pair record.
  public var parent: PairedPeer
  public var description: SessionDescription
}

/// A parent's verified goodbye for good, which waits for its answer.
public struct PairedFarewell: Hashable, Sendable {
  let message: SignedMessage
  let client: RoomClient

  /// The parent's id.
  public var parent: String { message.from }
}

/// Actions for a child's shell, in order.
public enum PairedChildAction: Hashable, Sendable {
  /// Send it to this client of the room.
  case send(to: RoomClient, message: String)
  /// This client of a paired parent has a session; it may stay in the room.
  case vouch(client: RoomClient, parent: String)
  /// This client has to leave the room: its parent has others, or it has had no session for too long.
  case dismiss(client: RoomClient)
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
  /// This parent has removed its pair record of us. Remove ours, then call `answer`.
  case unpaired(PairedFarewell)
  /// A message was refused. Log it and dismiss the client: an honest one loses nothing.
  case refused(client: RoomClient, SignalingRefusal)

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
