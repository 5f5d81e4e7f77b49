public import SDP
public import Wire

/// One media session with a paired child, as the parent: the room's replies go in, actions come out.
///
/// The order of calls: `start` (or `sayFarewell`) once, when the room can be written to; candidates as they are found;
/// `leave` at any time. `failed` or `ended` comes once, as the last action.
///
/// At a meeting place the session waits for the child's signed presence (`Presence`), and its offer has the challenge in it.
///
/// A message of the child is accepted only when it is signed by the key of the pairing, for this session (128 random bits
/// of ours) and this registration's challenge. A forged answer is refused and the true one still awaited. So a lying room
/// server, or a man in the middle with a certificate of its own, can at most keep the two apart. It cannot intercept
/// media, because the signed answer names the DTLS key.
public struct PairedParentSession: Sendable {
  /// How far it has come.
  enum State: Sendable {
    case fresh
    case registering(Purpose, until: Instant)
    case offering(Link, until: Instant)
    /// - restartUntil: an ICE restart has been requested.
    case open(Link, restartUntil: Instant?)
    case farewell(Link, until: Instant)
    case ended
  }

  enum Purpose: Sendable {
    case watch(SessionDescription)
    case farewell(ByeReason)
  }

  struct Link: Sendable {
    var challenge: String
    /// `Presence.process`; nil if the child has not said it.
    var process: String?
    var revision = 0
    var theirs = PairedCandidates()
  }

  private let envelope: SignedEnvelope
  private let child: PairedPeer
  private let timing: PairedSessionTiming
  /// A name for this session's client of the room alone: several programs of one parent do not replace each other, and
  /// nobody else can guess it.
  public let client: String
  private let session: String
  private let wallClock: WallClockReference?
  private var state: State = .fresh
  /// Our candidates from before there was a challenge to sign them with.
  private var unsent: [SignedMessage.Content] = []
  /// Why a message was refused last; it says more than a time-out.
  private var lastRefusal: SignalingRefusal?

  /// - Parameter wallClock: to know a presence that has expired; nil: by our clock none has.
  public init(
    envelope: SignedEnvelope, child: PairedPeer, timing: PairedSessionTiming = PairedSessionTiming(),
    wallClock: WallClockReference? = nil, random: any RandomNumberGenerator & Sendable
  ) {
    var random = random
    self.wallClock = wallClock
    self.envelope = envelope
    self.child = child
    self.timing = timing
    session = RandomName.make(from: &random)
    client = RandomName.make(from: &random)
  }

  public var isOpen: Bool {
    if case .open = state { true } else { false }
  }

  public var hasEnded: Bool {
    if case .ended = state { true } else { false }
  }

  /// When `handleTimeout` is due.
  public var nextDeadline: Instant? {
    switch state {
    case .registering(_, let until), .offering(_, let until), .farewell(_, let until): until
    case .open(_, let until): until
    case .fresh, .ended: nil
    }
  }

  // MARK: - Calls

  /// Registers in the child's room and sends the offer there.
  public mutating func start(offer: SessionDescription, now: Instant) -> [PairedParentAction] {
    register(.watch(offer), now: now)
  }

  /// Registers in the child's room only to say that we have removed the pairing. `ended` follows when the child knows.
  public mutating func sayFarewell(_ reason: ByeReason, now: Instant) -> [PairedParentAction] {
    register(.farewell(reason), now: now)
  }

  private mutating func register(_ purpose: Purpose, now: Instant) -> [PairedParentAction] {
    guard case .fresh = state else { preconditionFailure("a session is started once") }
    state = .registering(purpose, until: now + timing.registration)
    return [.send(.register(room: child.id, client: client))]
  }

  /// A candidate of ours that was not in the offer (attribute text from `candidate:` on).
  public mutating func addLocalCandidate(_ candidate: String, sdpMid: String?) -> [PairedParentAction] {
    sendWhenOpen(.candidate(candidate, sdpMid: sdpMid))
  }

  /// We have no more candidates.
  public mutating func endOfLocalCandidates() -> [PairedParentAction] {
    sendWhenOpen(.endOfCandidates)
  }

  /// Requests an ICE restart with our new credentials and candidates. Answered by `restarted` or `restartFailed`; of
  /// several that overlap, only the last.
  public mutating func restartICE(_ ours: TrickleFragment, now: Instant) -> [PairedParentAction] {
    guard case .open(var link, _) = state else { return [.restartFailed] }
    link.revision += 1
    state = .open(link, restartUntil: now + timing.answer)
    return [send(.restart(fragment: ours.description), link)]
  }

  /// Registers again, over a new connection to the room: an open session goes on there. Answered by `attached`; then
  /// request an ICE restart, by which the child knows us on this connection.
  public mutating func reattach() -> [PairedParentAction] {
    guard case .open = state else { return [] }
    return [.send(.register(room: child.id, client: client))]
  }

  /// Ends the session and notifies the child.
  public mutating func leave() -> [PairedParentAction] {
    defer { state = .ended }
    switch state {
    case .offering(let link, _), .open(let link, _): return [send(.bye(.left), link), .ended(.left)]
    case .fresh, .registering, .farewell: return [.ended(.left)]
    case .ended: return []
    }
  }

  /// The connection to the room is lost. An open session continues without it: only candidates, restarts and goodbyes
  /// need the room.
  public mutating func connectionLost() -> [PairedParentAction] {
    switch state {
    case .registering, .offering, .farewell: fail(.connectionLost)
    case .open(let link, .some):
      reopen(link)
    case .fresh, .open, .ended: []
    }
  }

  public mutating func handleTimeout(now: Instant) -> [PairedParentAction] {
    switch state {
    case .registering(_, let until) where until <= now, .offering(_, let until) where until <= now,
      .farewell(_, let until) where until <= now:
      return fail(.timedOut(lastRefusal))
    case .open(let link, let until?) where until <= now:
      return reopen(link)
    case .fresh, .registering, .offering, .open, .farewell, .ended:
      return []
    }
  }

  private mutating func reopen(_ link: Link) -> [PairedParentAction] {
    state = .open(link, restartUntil: nil)
    return [.restartFailed]
  }

  // MARK: - Replies of the room

  public mutating func receive(_ reply: RoomReply, now: Instant) -> [PairedParentAction] {
    switch (reply, state) {
    case (.registered(let registration), .registering(let purpose, _)):
      guard registration.room == child.id, registration.client == client,
        SignedMessage.isChallenge(registration.challenge)
      else {
        return fail(.room(RoomError(.badMessage, "the room confirms another registration than the requested one")))
      }
      switch registration.host {
      case .here:
        return registered(purpose, Link(challenge: registration.challenge), now: now)
          + registration.messages.flatMap { receive($0) }
      case .elsewhere(let presence):
        return met(presence, purpose, now: now)
      case .absent:
        return fail(.absent)
      }
    case (.registered(let registration), .open(let link, _)):
      // The session keeps the challenge under which the child knows it.
      guard registration.room == child.id, registration.client == client else { return [] }
      if case .elsewhere(let statement) = registration.host, isOfAnotherProcess(statement, link) { return [.replaced] }
      return [.attached] + registration.messages.flatMap { receive($0) }
    case (.message(let delivery), .offering), (.message(let delivery), .open), (.message(let delivery), .farewell):
      return receive(delivery)
    case (.error(let error), .registering), (.error(let error), .offering), (.error(let error), .farewell):
      return fail(.room(error))
    case (.presence(nil), .offering), (.presence(nil), .farewell):
      // The meeting place has looked after the child, and it does not answer there.
      return fail(.absent)
    case (.presence(let statement?), .open(let link, let restartUntil)):
      if isOfAnotherProcess(statement, link) { return [.replaced] }
      // The child was lost to the meeting place as well, and with it our restart.
      return restartUntil == nil ? [] : [.attached]
    case (.vouched(let servers), .offering), (.vouched(let servers), .open):
      return servers.isEmpty ? [] : [.iceServers(servers)]
    case (.registered, _), (.message, _), (.error, _), (.proved, _), (.presence, _), (.vouched, _):
      return []
    }
  }

  /// The child is at this meeting place, as its presence says.
  private mutating func met(_ statement: String, _ purpose: Purpose, now: Instant) -> [PairedParentAction] {
    do throws(SignalingRefusal) {
      let presence = try envelope.openPresence(statement, of: child)
      let seconds = wallClock.map { $0.unixNanoseconds(at: now) / 1_000_000_000 }
      if let seconds, presence.expires < seconds - Self.clockTolerance { throw .tooOld }
      return registered(purpose, Link(challenge: presence.challenge, process: presence.process), now: now)
    } catch {
      return fail(.noPresence(error))
    }
  }

  /// Whether the child has begun again since this session was made. The statement may be one that the place repeats, so it is
  /// no reason to end a session in which something still comes.
  private func isOfAnotherProcess(_ statement: String, _ link: Link) -> Bool {
    guard let process = link.process, let presence = try? envelope.openPresence(statement, of: child) else {
      return false
    }
    return presence.process.map { $0 != process } ?? false
  }

  /// Seconds by which the clocks of child and parent may differ.
  private static let clockTolerance: Int64 = 600

  private mutating func registered(_ purpose: Purpose, _ link: Link, now: Instant) -> [PairedParentAction] {
    switch purpose {
    case .watch(let offer):
      state = .offering(link, until: now + timing.answer)
      defer { unsent = [] }
      return [send(.offer(sdp: offer.description), link)] + unsent.map { send($0, link) }
    case .farewell(let reason):
      state = .farewell(link, until: now + timing.answer)
      return [send(.bye(reason), link)]
    }
  }

  private mutating func receive(_ delivery: RoomDelivery) -> [PairedParentAction] {
    do throws(SignalingRefusal) {
      let message = try envelope.open(delivery.message) { id throws(SignalingRefusal) in
        guard id == child.id else { throw .wrongSender }
        return child.publicKeySPKI
      }
      guard message.session == session else { throw .wrongSession }
      return try follow(message)
    } catch {
      lastRefusal = error
      return [.refused(error)]
    }
  }

  private mutating func follow(_ message: SignedMessage) throws(SignalingRefusal) -> [PairedParentAction] {
    switch state {
    case .offering(var link, let until):
      guard message.challenge == link.challenge else { throw .wrongChallenge }
      switch message.content {
      case .answer(let sdp):
        let answer = try SessionDescription(signalled: sdp)
        let ready = link.theirs.begin(revision: 0)
        state = .open(link, restartUntil: nil)
        return [.answered(answer)] + ready.map(PairedParentAction.init)
      case .bye(let reason):
        return fail(.dismissed(reason))
      case .candidate, .endOfCandidates:
        // The child's candidates that overtook its answer have waited for it.
        defer { state = .offering(link, until: until) }
        return try receiveCandidate(message, &link)
      case .offer, .restart, .restarted:
        throw .unexpected
      }
    case .open(var link, let restartUntil):
      guard message.challenge == link.challenge else { throw .wrongChallenge }
      switch message.content {
      case .restarted(let text):
        guard restartUntil != nil, message.revision == link.revision else { throw .unexpected }
        let fragment = try TrickleFragment(signalled: text)
        let ready = link.theirs.begin(revision: link.revision)
        state = .open(link, restartUntil: nil)
        return [.restarted(fragment)] + ready.map(PairedParentAction.init)
      case .bye(let reason):
        state = .ended
        return [.ended(reason)]
      case .candidate, .endOfCandidates:
        defer { state = .open(link, restartUntil: restartUntil) }
        return try receiveCandidate(message, &link)
      case .offer, .answer, .restart:
        throw .unexpected
      }
    case .farewell(let link, _):
      guard message.challenge == link.challenge else { throw .wrongChallenge }
      guard case .bye(let reason) = message.content else { throw .unexpected }
      state = .ended
      return [.ended(reason)]
    case .fresh, .registering, .ended:
      throw .unexpected
    }
  }

  private func receiveCandidate(
    _ message: SignedMessage, _ link: inout Link
  ) throws(SignalingRefusal) -> [PairedParentAction] {
    let item: PairedCandidates.Item
    if case .candidate(let text, let mid) = message.content {
      item = .candidate(text, sdpMid: mid)
    } else {
      item = .end
    }
    return try link.theirs.add(item, revision: message.revision).map { [PairedParentAction($0)] } ?? []
  }

  // MARK: - Helpers

  private mutating func sendWhenOpen(_ content: SignedMessage.Content) -> [PairedParentAction] {
    switch state {
    case .offering(let link, _), .open(let link, _):
      return [send(content, link)]
    case .fresh, .registering:
      if unsent.count < SDPLimits.candidates { unsent.append(content) }
      return []
    case .farewell, .ended:
      return []
    }
  }

  private func send(_ content: SignedMessage.Content, _ link: Link) -> PairedParentAction {
    let message = SignedMessage(
      from: envelope.id, to: child.id, session: session, challenge: link.challenge, revision: link.revision,
      content: content)
    return .send(.send(to: child.id, message: envelope.seal(message)))
  }

  private mutating func fail(_ error: PairedSessionError) -> [PairedParentAction] {
    state = .ended
    return [.failed(error)]
  }
}
