internal import Frames
internal import Logging
internal import NIOCore
internal import Pairing
internal import PeerConnection
internal import SDP
internal import Server
internal import Signaling
internal import Wire

/// Sessions of paired parents: the child's own room at `/signal`, signed offers and answers, ICE restarts, goodbyes.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class SignalService: @unchecked Sendable {
  private let viewers: Viewers
  private let pairing: PairingService
  private let logger: Logger
  private var sessions: PairedChildSessions
  private var peers: [PairedSessionID: PeerID] = [:]
  private var host: WebSocketRooms.Host?
  private var timer: Scheduled<Void>?

  init(envelope: SignedEnvelope, viewers: Viewers, pairing: PairingService, logger: Logger) {
    sessions = PairedChildSessions(envelope: envelope)
    self.viewers = viewers
    self.pairing = pairing
    self.logger = logger
    viewers.onEnded.append { [weak self] viewer in self?.ended(viewer) }
    pairing.onRevoked.append { [weak self] record in self?.perform { $0.endAll(of: record.id, .notPaired) } }
    pairing.onChanged.append { [weak self] record in self?.narrow(record) }
  }

  /// Ends sessions that have more than the parent's record now allows: it comes back with what is left.
  private func narrow(_ record: PairRecord) {
    let isTooWide = viewers.table.values.contains { viewer in
      viewer.pair == record.id && !viewer.permissions.isSubset(of: record.permissions)
    }
    if isTooWide { perform { $0.endAll(of: record.id, .left) } }
  }

  /// Opens the child's room.
  func open(in rooms: WebSocketRooms, id: String) {
    host = rooms.open(room: id) { [weak self] delivery in
      guard let self else { return }
      self.perform { $0.receive(delivery, pairs: self.pairing.peer, now: MonotonicClock.now) }
    }
  }

  /// Ends sessions whose pair record's time is over. Call now and then.
  func endExpired() {
    let parents = Set(peers.keys.map(\.parent))
    for parent in parents where pairing.peer(id: parent)?.isExpired != false {
      perform { $0.endAll(of: parent, .expired) }
    }
  }

  /// Says goodbye to every session.
  func stop() {
    for session in peers.keys { perform { $0.end(session, .goingAway) } }
    timer?.cancel()
  }

  // MARK: What the core wants

  private func perform(_ call: (inout PairedChildSessions) -> [PairedChildAction]) {
    for action in call(&sessions) { perform(action) }
    schedule()
  }

  private func perform(_ action: PairedChildAction) {
    switch action {
    case .send(let client, let message):
      host?.send(to: client, message: message)
    case .vouch(let client):
      host?.vouch(for: client)
    case .offered(let offer):
      take(offer)
    case .addCandidate(let session, let candidate, _):
      with(session) { connection, now in connection.addRemoteCandidate(candidate, now: now) }
    case .remoteCandidatesComplete(let session):
      with(session) { connection, now in connection.addRemoteCandidate("", now: now) }
    case .restart(let session, let fragment):
      restart(session, fragment)
    case .ended(let session, let reason):
      if let peer = peers.removeValue(forKey: session) { viewers.end(peer, because: reason) }
    case .unpaired(let parent):
      do {
        try pairing.revoke(id: parent)
      } catch {
        logger.warning("a parent that unpaired could not be removed", metadata: ["reason": "\(error)"])
      }
    case .refused(let client, let refusal):
      logger.notice("signalling refused", metadata: ["because": "\(refusal)"])
      host?.dismiss(client, reason: "\(refusal)")
    }
  }

  private func take(_ offer: PairedOffer) {
    let name = pairing.record(id: offer.parent.id)?.name ?? offer.parent.id
    do throws(PeerHubError) {
      let (peer, answer) = try viewers.admit(
        offer.description, .init(name: name, pair: offer.parent.id, permissions: offer.parent.permissions),
        session: "\(offer.session.parent)/\(offer.session.session)", includingLoopback: offer.description.isFromLoopback
      )
      peers[offer.session] = peer
      pairing.touch(id: offer.parent.id)
      perform { $0.answer(offer.session, answer) }
    } catch {
      switch error {
      case .full: perform { $0.end(offer.session, .busy) }
      case .refused(let reason):
        logger.error("a viewer could not be taken", metadata: ["reason": "\(reason)"])
        perform { $0.end(offer.session, .notAcceptable) }
      }
    }
  }

  private func restart(_ session: PairedSessionID, _ fragment: TrickleFragment) {
    guard let peer = peers[session], let ufrag = fragment.ufrag, let pwd = fragment.pwd,
      let ours = viewers.restartICE(of: peer, ufrag: ufrag, pwd: pwd, candidates: fragment.candidates)
    else { return perform { $0.end(session, .notAcceptable) } }
    perform {
      $0.restarted(
        session,
        TrickleFragment(
          ufrag: ours.ufrag, pwd: ours.pwd, sections: [.init(mid: "0", candidates: ours.candidates)],
          endOfCandidates: true))
    }
  }

  private func with(_ session: PairedSessionID, _ body: (PeerConnection, Instant) -> Void) {
    guard let peer = peers[session] else { return }
    _ = viewers.hub.with(peer, body)
  }

  /// The connection is gone, however it went.
  private func ended(_ viewer: Viewer) {
    guard let session = peers.first(where: { $0.value == viewer.peer })?.key else { return }
    peers[session] = nil
    perform { $0.end(session, .left) }
  }

  private func schedule() {
    timer?.cancel()
    timer = sessions.nextDeadline.map { deadline in
      let wait = max(.zero, deadline - MonotonicClock.now)
      return viewers.hub.eventLoop.scheduleTask(in: .nanoseconds(wait.nanoseconds)) { [weak self] in
        self?.perform { sessions in
          sessions.handleTimeout(now: MonotonicClock.now)
          return []
        }
      }
    }
  }
}

extension SessionDescription {
  /// The peer offers addresses of its own machine that only a program on this one can use: it is on this one, or cannot
  /// be reached there.
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
