internal import Frames
internal import Logging
internal import NIOCore
internal import Pairing
internal import PeerConnection
internal import SDP
internal import Server
internal import Signaling
internal import Storage
internal import Wire

/// Sessions of paired parents: the child's own room at `/signal` and meeting places elsewhere, signed offers and answers, ICE
/// restarts, goodbyes.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class SignalService: @unchecked Sendable {
  private let viewers: Viewers
  private let pairing: PairingService
  private let logger: Logger
  private var sessions: PairedChildSessions
  private var host: WebSocketRooms.Host?
  private let meetings: MeetingBoard
  private let refusals = LogCounts<String>(interval: .seconds(60))
  private lazy var timer = DeadlineTimer(on: viewers.hub.eventLoop, now: { MonotonicClock.now }) { [weak self] in
    self?.perform { sessions in
      sessions.handleTimeout(now: MonotonicClock.now)
      return []
    }
  }

  init(
    envelope: SignedEnvelope, viewers: Viewers, pairing: PairingService, meetings: MeetingBoard, logger: Logger
  ) {
    var limits = PairedChildLimits()
    limits.maximumVouchesPerParent = ViewerAdmission.maximumSessions
    limits.maximumVouchesPerOwner = ViewerAdmission.maximumAdministratorSessions
    limits.maximumVouches = ViewerAdmission.places + ViewerAdmission.maximumAdministratorSessions
    sessions = PairedChildSessions(envelope: envelope, limits: limits, random: SystemRandomNumberGenerator())
    self.meetings = meetings
    self.viewers = viewers
    self.pairing = pairing
    self.logger = logger
    viewers.registry.observe { [weak self] event in
      switch event {
      case .ended(let session): self?.ended(session)
      case .connection(let session, .localCandidate(let candidate)): self?.found(candidate, for: session)
      case .connection(let session, .localCandidatesComplete): self?.found(nil, for: session)
      case .secondPassed:
        self?.reviewVouches()
        self?.logRepeatedRefusals()
      // Perhaps our router has restarted, and the meeting places no longer reach us either.
      case .connection(let session, .stateChanged(.disconnected)) where session.reach == .elsewhere:
        self?.meetings.verify()
      default: break
      }
    }
    pairing.observe { [weak self] change in
      if case .revoked(let record) = change { self?.perform { $0.endAll(of: record.id, .notPaired) } }
    }
  }

  /// Opens the child's room, and goes to the meeting places.
  func open(in rooms: WebSocketRooms, id: String) {
    host = rooms.open(room: id) { [weak self] delivery in self?.receive(delivery) }
    meetings.open(
      presence: { [weak self] in
        self?.sessions.presence(now: MonotonicClock.now, wallClock: MonotonicClock.wallClockReference)
      }, receive: { [weak self] delivery in self?.receive(delivery) })
  }

  private func receive(_ delivery: RoomDelivery) {
    perform { $0.receive(delivery, pairs: self.pairing.peer, now: MonotonicClock.now) }
  }

  /// Says goodbye to every session, and at the meeting places: see `MeetingBoard.close`.
  func stop() -> EventLoopFuture<Void> {
    for session in viewers.registry.byAge {
      if case .paired(let id) = session.origin { perform { $0.end(id, .goingAway) } }
    }
    timer.cancel()
    return meetings.close()
  }

  // MARK: Actions of the core

  private func perform(_ call: (inout PairedChildSessions) -> [PairedChildAction]) {
    for action in call(&sessions) { perform(action) }
    timer.set(sessions.nextDeadline)
  }

  private func perform(_ action: PairedChildAction) {
    switch action {
    case .send(let client, let message):
      if let place = client.place {
        meetings.send(to: client.name, at: place, message: message)
      } else {
        host?.send(to: client.name, message: message)
      }
    case .vouch(let client, let parent):
      if let place = client.place {
        meetings.vouch(for: client.name, at: place, lifetime: viewers.credentials.timeLeft(of: .pair(id: parent)))
      } else if let credential = viewers.credentials.connection(of: .pair(id: parent)) {
        host?.vouch(for: client.name, of: credential)
      }
    case .dismiss(let client):
      dismiss(client, reason: "no session, or too many connections of one pairing")
    case .offered(let offer):
      take(offer)
    case .addCandidate(let session, let candidate, _):
      with(session) { connection, now in connection.addRemoteCandidate(candidate, now: now) }
    case .remoteCandidatesComplete(let session):
      with(session) { connection, now in connection.addRemoteCandidate("", now: now) }
    case .restart(let session, let fragment):
      restart(session, fragment)
    case .ended(let session, let reason):
      if let open = viewers.registry.session(paired: session) { viewers.end(open, because: reason) }
    case .unpaired(let farewell): remove(farewell)
    case .refused(let client, let refusal):
      // Anybody can send what is refused, as fast as it goes.
      if let count = refusals.count(refusal.kind, now: MonotonicClock.now) {
        logger.notice("signalling refused", metadata: ["because": "\(refusal)", "times": "\(count)"])
      }
      dismiss(client, reason: "\(refusal)")
    }
  }

  private func dismiss(_ client: RoomClient, reason: String) {
    if let place = client.place {
      meetings.dismiss(client.name, at: place, reason: reason)
    } else {
      host?.dismiss(client.name, reason: reason)
    }
  }

  /// The parent hears what a restart would make of it.
  private func remove(_ farewell: PairedFarewell) {
    do throws(StoreError) {
      try pairing.revoke(id: farewell.parent)
    } catch {
      logger.warning("a parent that unpaired could not be removed", metadata: ["reason": "\(error)"])
      return perform { $0.answer(farewell, isStored: false) }
    }
    let bound = NIOLoopBound(self, eventLoop: viewers.hub.eventLoop)
    pairing.stored().map { true }.recover { _ in false }.whenSuccess { isStored in
      bound.value.perform { $0.answer(farewell, isStored: isStored) }
    }
  }

  private func reviewVouches() {
    perform { $0.reviewVouches(pairs: self.pairing.peer, now: MonotonicClock.now) }
  }

  /// Also where nothing comes any more.
  private func logRepeatedRefusals() {
    for (reason, times) in refusals.takeRepeats(now: MonotonicClock.now) {
      logger.notice("signalling refused", metadata: ["because": "\(reason)", "times": "\(times)"])
    }
    let others = refusals.takeOthers(now: MonotonicClock.now)
    if others > 0 { logger.notice("signalling refused", metadata: ["because": "other reasons", "times": "\(others)"]) }
  }

  private func take(_ offer: PairedOffer) {
    let name = pairing.record(id: offer.parent.id)?.name ?? offer.parent.id
    do throws(ViewerRefusal) {
      let answer = try viewers.admit(
        offer.description, origin: .paired(offer.session), name: name, permissions: offer.parent.permissions,
        includingLoopback: offer.description.isFromLoopback, reach: reach(of: offer.client))
      pairing.touch(id: offer.parent.id)
      perform { $0.answer(offer.session, answer) }
    } catch {
      switch error {
      case .admission(let reason):
        // Whoever is paired can try as fast as it likes.
        if let count = refusals.count("admission of \(offer.parent.id)", now: MonotonicClock.now) {
          logger.notice(
            "no place for a viewer",
            metadata: ["viewer": "\(name)", "reason": "\(reason)", "times": "\(count)"])
        }
        perform { $0.end(offer.session, .busy) }
      case .connection(let reason):
        logger.error("a viewer could not be taken", metadata: ["reason": "\(reason)"])
        perform { $0.end(offer.session, .notAcceptable) }
      }
    }
  }

  /// Whoever comes through a meeting place may be anywhere.
  private func reach(of client: RoomClient) -> NetworkReach {
    client.place == nil ? host?.reach(of: client.name) ?? .localNetwork : .elsewhere
  }

  private func restart(_ session: PairedSessionID, _ fragment: TrickleFragment) {
    guard let open = viewers.registry.session(paired: session), let ufrag = fragment.ufrag, let pwd = fragment.pwd,
      let ours = viewers.restartICE(of: open, ufrag: ufrag, pwd: pwd, candidates: fragment.candidates)
    else { return perform { $0.end(session, .notAcceptable) } }
    perform {
      $0.restarted(
        session,
        TrickleFragment(
          ufrag: ours.ufrag, pwd: ours.pwd, sections: [.init(mid: "0", candidates: ours.candidates)],
          endOfCandidates: ours.isComplete))
    }
  }

  private func with(_ session: PairedSessionID, _ body: (PeerConnection, Instant) -> Void) {
    guard let peer = viewers.registry.session(paired: session)?.peer else { return }
    _ = viewers.hub.with(peer, body)
  }

  /// A candidate of ours that came after the answer; nil: the last one has come.
  private func found(_ candidate: String?, for session: ViewerSession) {
    guard case .paired(let id) = session.origin else { return }
    perform { sessions in
      candidate.map { sessions.addLocalCandidate(id, $0, sdpMid: "0") } ?? sessions.endOfLocalCandidates(id)
    }
  }

  /// The connection is gone. Notifies the parent why, unless the parent left by itself.
  private func ended(_ session: ViewerSession) {
    guard case .paired(let id) = session.origin else { return }
    perform { $0.end(id, session.endReason ?? .left) }
  }
}

extension SessionDescription {
  /// Whether the peer offers loopback candidates, which are only useful if it runs on this machine.
  fileprivate var isFromLoopback: Bool {
    media.contains { section in
      section.candidates.contains { candidate in
        // RFC 8839 section 5.1: foundation, component, transport, priority, address.
        let words = candidate.split(separator: " ")
        return words.count > 4 && IPAddress(String(words[4]))?.isLoopback == true
      }
    }
  }
}
