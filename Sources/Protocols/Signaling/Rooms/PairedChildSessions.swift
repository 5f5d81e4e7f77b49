internal import Pairing
public import SDP
public import Wire

/// All media sessions of a child with its paired parents: messages from the room go in, actions come out. The child is
/// the host of its room; in a room that it serves itself it is a client without a socket.
///
/// An offer is accepted only when a paired parent has signed it whose pairing has not expired, for this child, with the
/// challenge that the room gave to the client that sends it, and for a session that has not been seen before. A recorded
/// offer cannot be replayed: another registration has another challenge, and within the same one the session is known.
/// A meeting place could make up challenges, so there the offer has one that the child itself has announced (`Presence`),
/// and the session protects while that counts. If it has been forgotten because many others followed, a replay yields an
/// answer and nothing more: media is encrypted for the key whose fingerprint the parent signed, and only the parent's own
/// program, long gone, could complete the ICE session.
public struct PairedChildSessions: Sendable {
  struct Session: Sendable {
    enum State: Sendable {
      /// Only candidates have arrived so far.
      case early(until: Instant)
      /// The shell is answering the offer.
      case offered
      case open
      /// ICE restarts, and the shell is preparing our side.
      case restarting
    }

    var state: State
    /// The room client to answer to, as of the offer or the last restart.
    var client: RoomClient
    let challenge: String
    /// Whether the parent had `admin` when it made the offer.
    var isOwner = false
    var revision = 0
    var theirs = PairedCandidates()
    /// Found before the answer.
    var unsent: [SignedMessage.Content] = []

    var deadline: Instant? {
      if case .early(let until) = state { until } else { nil }
    }
  }

  private let envelope: SignedEnvelope
  private let limits: PairedChildLimits
  private var sessions: [PairedSessionID: Session] = [:]
  private var seen: SeenSessions
  private var challenges: AnnouncedChallenges
  private var vouched: VouchedClients
  /// `Presence.process`
  private let process: String

  public init(
    envelope: SignedEnvelope, limits: PairedChildLimits = PairedChildLimits(),
    random: any RandomNumberGenerator & Sendable
  ) {
    self.envelope = envelope
    var random = random
    process = RandomName.make(from: &random)
    challenges = AnnouncedChallenges(random: random)
    self.limits = limits
    vouched = VouchedClients(limits: limits)
    seen = SeenSessions(perParent: limits.rememberedSessionsPerParent, parents: limits.rememberedParents)
  }

  /// Sessions with an accepted offer.
  public var count: Int { sessions.values.count { $0.deadline == nil } }

  /// When `handleTimeout` is due: candidates have waited too long for their offer.
  public var nextDeadline: Instant? { sessions.values.compactMap(\.deadline).min() }

  public mutating func handleTimeout(now: Instant) {
    sessions = sessions.filter { $0.value.deadline.map { $0 > now } ?? true }
  }

  // MARK: - Meeting places

  /// The signed presence for all meeting places, and when they need a newer one.
  public mutating func presence(now: Instant, wallClock: WallClockReference) -> (statement: String, renewal: Instant) {
    let (challenge, until) = challenges.current(now: now)
    let expires = wallClock.unixNanoseconds(at: until) / 1_000_000_000
    let presence = Presence(child: envelope.id, challenge: challenge, expires: expires, process: process)
    return (envelope.seal(presence), challenges.renewal ?? until)
  }

  // MARK: - Messages from the room

  /// - Parameter pairs: returns the current pair record of a node; nil if it is not paired.
  public mutating func receive(
    _ delivery: RoomDelivery, pairs: (_ id: String) -> PairedPeer?, now: Instant
  ) -> [PairedChildAction] {
    handleTimeout(now: now)
    if delivery.message == MeetingCheck.message { return [.dismiss(client: delivery.client)] }
    do throws(SignalingRefusal) {
      var sender: PairedPeer?
      let message = try envelope.open(delivery.message) { id throws(SignalingRefusal) in
        guard let peer = pairs(id) else { throw .notPaired(id) }
        sender = peer
        return peer.publicKeySPKI
      }
      guard let parent = sender else { throw .notPaired(message.from) }
      if parent.isExpired {
        return expired(message, delivery) + [.refused(client: delivery.client, .expired(parent.id))]
      }
      return try follow(message, of: parent, delivery, now: now)
    } catch .notPaired(let id) {
      return stranger(delivery, now: now) + [.refused(client: delivery.client, .notPaired(id))]
    } catch {
      return [.refused(client: delivery.client, error)]
    }
  }

  private mutating func follow(
    _ message: SignedMessage, of parent: PairedPeer, _ delivery: RoomDelivery, now: Instant
  ) throws(SignalingRefusal) -> [PairedChildAction] {
    let id = PairedSessionID(parent: parent.id, session: message.session)
    if let session = sessions[id] {
      guard message.challenge == session.challenge else { throw .wrongChallenge }
    } else {
      if seen.contains(id) {
        // Messages in flight when the session ended are no attack; a second offer is.
        if case .offer = message.content { throw .replayed }
        return []
      }
      guard isCurrent(message.challenge, delivery, now: now) else { throw .wrongChallenge }
    }
    switch message.content {
    case .offer(let sdp):
      return try offered(sdp, id, parent, message, delivery, now: now)
    case .candidate(let text, let mid):
      return try candidate(.candidate(text, sdpMid: mid), id, message, delivery, now: now)
    case .endOfCandidates:
      return try candidate(.end, id, message, delivery, now: now)
    case .restart(let text):
      return try restart(text, id, message, delivery)
    case .bye(let reason):
      return bye(reason, id, message, delivery)
    case .answer, .restarted:
      throw .unexpected
    }
  }

  /// The challenge of the sender's registration in our own room, or one that we have announced at meeting places.
  private func isCurrent(_ challenge: String, _ delivery: RoomDelivery, now: Instant) -> Bool {
    delivery.challenge.map { $0 == challenge } ?? challenges.contains(challenge, now: now)
  }

  private mutating func offered(
    _ sdp: String, _ id: PairedSessionID, _ parent: PairedPeer, _ message: SignedMessage, _ delivery: RoomDelivery,
    now: Instant
  ) throws(SignalingRefusal) -> [PairedChildAction] {
    var session =
      sessions[id]
      ?? Session(
        state: .early(until: now), client: delivery.client, challenge: message.challenge)
    guard case .early = session.state else { throw .replayed }
    guard message.revision == 0 else { throw .unexpected }
    // From here on this session has been seen, whether or not it comes about.
    sessions[id] = nil
    seen.insert(id)
    let mine = sessions.count { $0.key.parent == parent.id && $0.value.deadline == nil }
    guard count < limits.maximumSessions, mine < limits.maximumSessionsPerParent else {
      return [bye(.busy, to: message, delivery.client)]
    }
    let description: SessionDescription
    do throws(SignalingRefusal) {
      description = try SessionDescription(signalled: sdp)
    } catch {
      return [bye(.notAcceptable, to: message, delivery.client), .refused(client: delivery.client, error)]
    }
    session.state = .offered
    session.client = delivery.client
    session.isOwner = parent.permissions.contains(.admin)
    sessions[id] = session
    return [.offered(PairedOffer(session: id, client: delivery.client, parent: parent, description: description))]
  }

  private mutating func candidate(
    _ item: PairedCandidates.Item, _ id: PairedSessionID, _ message: SignedMessage, _ delivery: RoomDelivery,
    now: Instant
  ) throws(SignalingRefusal) -> [PairedChildAction] {
    if sessions[id] == nil {
      let early = sessions.count { $0.key.parent == id.parent && $0.value.deadline != nil }
      guard early < limits.maximumEarlySessionsPerParent else { throw .tooManySessions }
      sessions[id] = Session(
        state: .early(until: now + limits.earlyTime), client: delivery.client, challenge: message.challenge)
    }
    let ready = try sessions[id]?.theirs.add(item, revision: message.revision)
    return ready.map { [PairedChildAction($0, id)] } ?? []
  }

  private mutating func restart(
    _ text: String, _ id: PairedSessionID, _ message: SignedMessage, _ delivery: RoomDelivery
  ) throws(SignalingRefusal) -> [PairedChildAction] {
    guard var session = sessions[id] else { throw .wrongSession }
    switch session.state {
    case .early, .offered: throw .unexpected
    case .open, .restarting: break
    }
    // An older one is a duplicate or has been overtaken.
    guard message.revision > session.revision else { throw .replayed }
    let fragment = try TrickleFragment(signalled: text)
    session.revision = message.revision
    session.state = .restarting
    // It may have come over a new connection, as its network has changed.
    session.client = delivery.client
    sessions[id] = session
    return vouch(for: session, id) + [.restart(id, fragment)]
  }

  private mutating func bye(
    _ reason: ByeReason, _ id: PairedSessionID, _ message: SignedMessage, _ delivery: RoomDelivery
  ) -> [PairedChildAction] {
    let ended = sessions.removeValue(forKey: id)
    seen.insert(id)
    var actions: [PairedChildAction] = ended?.deadline == nil && ended != nil ? [.ended(id, reason)] : []
    // Its challenge is current, or the session is known: no recorded goodbye, replayed after the two have paired again.
    if reason == .notPaired {
      actions += endAll(of: id.parent, .notPaired)
      actions.append(.unpaired(PairedFarewell(message: message, client: delivery.client)))
    }
    return actions
  }

  /// The pairing has expired; the signature is valid. The parent is notified, and its sessions end.
  private mutating func expired(_ message: SignedMessage, _ delivery: RoomDelivery) -> [PairedChildAction] {
    endAll(of: message.from, .expired) + [bye(.expired, to: message, delivery.client)]
  }

  /// A node that is not paired gets a signed answer, so that a parent learns of its removal from us and from nobody else.
  /// The message is bound to the session and challenge of the node's own message, and useless elsewhere.
  private func stranger(_ delivery: RoomDelivery, now: Instant) -> [PairedChildAction] {
    guard let claim = try? envelope.claim(delivery.message), isCurrent(claim.challenge, delivery, now: now) else {
      return []
    }
    switch claim.content {
    case .offer, .restart, .bye(.notPaired): return [bye(.notPaired, to: claim, delivery.client)]
    case .answer, .restarted, .candidate, .endOfCandidates, .bye: return []
    }
  }

  // MARK: - Calls

  /// Our answer to an offer. Returns the parent's candidates that arrived meanwhile.
  public mutating func answer(_ id: PairedSessionID, _ answer: SessionDescription) -> [PairedChildAction] {
    guard var session = sessions[id], case .offered = session.state else { return [] }
    session.state = .open
    let ready = session.theirs.begin(revision: 0)
    let unsent = session.unsent
    session.unsent = []
    sessions[id] = session
    return vouch(for: session, id) + [send(.answer(sdp: answer.description), id, session)]
      + unsent.map { send($0, id, session) } + ready.map { PairedChildAction($0, id) }
  }

  /// The answer to a parent that has unpaired.
  ///
  /// - Parameter isStored: whether a restart of the child keeps its pair record removed.
  public func answer(_ farewell: PairedFarewell, isStored: Bool) -> [PairedChildAction] {
    [bye(isStored ? .left : .notStored, to: farewell.message, farewell.client)]
  }

  /// Our side of an ICE restart.
  public mutating func restarted(_ id: PairedSessionID, _ ours: TrickleFragment) -> [PairedChildAction] {
    guard var session = sessions[id], case .restarting = session.state else { return [] }
    session.state = .open
    let ready = session.theirs.begin(revision: session.revision)
    sessions[id] = session
    return [send(.restarted(fragment: ours.description), id, session)] + ready.map { PairedChildAction($0, id) }
  }

  /// A candidate of ours that was not in the answer (attribute text from `candidate:` on).
  public mutating func addLocalCandidate(
    _ id: PairedSessionID, _ candidate: String, sdpMid: String?
  ) -> [PairedChildAction] {
    sendWhenOpen(.candidate(candidate, sdpMid: sdpMid), id)
  }

  /// We have no more candidates.
  public mutating func endOfLocalCandidates(_ id: PairedSessionID) -> [PairedChildAction] {
    sendWhenOpen(.endOfCandidates, id)
  }

  /// The session has ended on our side, or could not be made; the parent is notified.
  public mutating func end(_ id: PairedSessionID, _ reason: ByeReason) -> [PairedChildAction] {
    guard let session = sessions.removeValue(forKey: id) else { return [] }
    return [send(.bye(reason), id, session)]
  }

  /// Ends a parent's sessions, as when its pair record has been removed or has expired.
  public mutating func endAll(of parent: String, _ reason: ByeReason) -> [PairedChildAction] {
    var actions: [PairedChildAction] = []
    for (id, session) in sessions where id.parent == parent {
      sessions[id] = nil
      seen.insert(id)
      guard session.deadline == nil else { continue }
      actions += [.ended(id, reason), send(.bye(reason), id, session)]
    }
    return actions
  }

  // MARK: - Vouches

  /// The session has been admitted: its client may stay. Others of the same parent may have to go for it.
  private mutating func vouch(for session: Session, _ id: PairedSessionID) -> [PairedChildAction] {
    let busy = busyClients
    let gone = vouched.insert(session.client, of: id.parent, isOwner: session.isOwner) { busy.contains($0) }
    return gone.map { .dismiss(client: $0) } + [.vouch(client: session.client, parent: id.parent)]
  }

  /// Takes back the vouches of clients that have had no session for too long, or whose parent is no longer welcome. Call it
  /// each second.
  ///
  /// - Parameter pairs: as in `receive`.
  public mutating func reviewVouches(
    pairs: (_ id: String) -> PairedPeer?, now: Instant
  ) -> [PairedChildAction] {
    let busy = busyClients
    let gone = vouched.review(now: now, isBusy: { busy.contains($0) }) { pairs($0).map { !$0.isExpired } ?? false }
    return gone.map { .dismiss(client: $0) }
  }

  private var busyClients: Set<RoomClient> { Set(sessions.values.lazy.filter { $0.deadline == nil }.map(\.client)) }

  private mutating func sendWhenOpen(_ content: SignedMessage.Content, _ id: PairedSessionID) -> [PairedChildAction] {
    guard let session = sessions[id] else { return [] }
    switch session.state {
    case .open, .restarting:
      return [send(content, id, session)]
    case .early, .offered:
      if session.unsent.count < SDPLimits.candidates { sessions[id]?.unsent.append(content) }
      return []
    }
  }

  private func send(
    _ content: SignedMessage.Content, _ id: PairedSessionID, _ session: Session
  ) -> PairedChildAction {
    let message = SignedMessage(
      from: envelope.id, to: id.parent, session: id.session, challenge: session.challenge, revision: session.revision,
      content: content)
    return .send(to: session.client, message: envelope.seal(message))
  }

  private func bye(_ reason: ByeReason, to message: SignedMessage, _ client: RoomClient) -> PairedChildAction {
    let answer = SignedMessage(
      from: envelope.id, to: message.from, session: message.session, challenge: message.challenge,
      content: .bye(reason))
    return .send(to: client, message: envelope.seal(answer))
  }
}
