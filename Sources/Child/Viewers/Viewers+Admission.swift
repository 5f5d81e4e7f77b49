internal import Frames
internal import Logging
internal import Pairing
internal import PeerConnection
internal import Pipelines
internal import SDP
internal import Server
internal import Signaling
internal import Wire

/// Why a viewer was not admitted.
enum ViewerRefusal: Error {
  case admission(ViewerAdmission.Refusal)
  case connection(PeerConnectionError)
}

// Admits viewers, whichever way their offer arrived.
extension Viewers {
  /// Answers an offer.
  ///
  /// - Parameters:
  ///   - name: the name of the token or pair record.
  ///   - camera: index; nil for the one that is streamed.
  ///   - reach: from elsewhere, STUN and TURN servers are asked for candidates, which are told as they come.
  /// - Returns: the answer.
  func admit(
    _ offer: SessionDescription, origin: ViewerSession.Origin, name: String, permissions: Permissions,
    camera: Int? = nil, includingLoopback: Bool, reach: NetworkReach = .localNetwork
  ) throws(ViewerRefusal) -> SessionDescription {
    let evicted: ViewerSession?
    do throws(ViewerAdmission.Refusal) {
      evicted = try sessionToEvict(for: origin, permissions)
      try starts.count(origin.credential, rank: credentials.rank(of: origin), now: MonotonicClock.now)
    } catch {
      throw .admission(error)
    }
    let camera = camera ?? activeCamera
    let peer: PeerID
    let answer: SessionDescription
    do throws(PeerHubError) {
      (peer, answer) = try hub.connect(
        offer: offer,
        configuration: peerConfiguration(
          permissions: permissions, camera: camera, reach: reach, rank: credentials.rank(of: origin)),
        includingLoopback: includingLoopback, servers: reach == .elsewhere ? self.servers.own() : [])
    } catch {
      switch error {
      case .full: throw .admission(.full)
      case .refused(let reason): throw .connection(reason)
      }
    }
    // Only now: an offer that is refused costs nobody's place.
    if let evicted { end(evicted, because: .busy) }
    let negotiated = hub.connection(peer)?.negotiated
    let sent = negotiated?.media.filter(\.direction.sends) ?? []
    let problems = Self.problems(of: negotiated)
    for problem in problems {
      logger.notice("a viewer does not get everything", metadata: ["viewer": "\(name)", "problem": "\(problem)"])
    }
    let session = ViewerSession(
      peer: peer, origin: origin, name: name, permissions: permissions, camera: camera,
      hasPictureTrack: sent.contains { $0.kind == .video }, hasSoundTrack: sent.contains { $0.kind == .audio },
      limits: hub.connection(peer)?.sendingLimits ?? SendingLimits(), problems: problems, since: MonotonicClock.now,
      reach: reach)
    // Nothing has been measured yet, but this much is known.
    let bounds = [session.limits.totalKbps, reach == .elsewhere ? Self.startElsewhereKbps : nil].compactMap { $0 }
    session.estimateKbps = bounds.min().flatMap { $0 < settings.startKbps ? $0 : nil }
    session.asksForKeyFrames = session.pair != nil || negotiated?.showsPictures ?? false
    add(session)
    return answer
  }

  /// A sentence for picture or sound that an offer asks for and its credential allows, but that cannot be sent.
  private static func problems(of session: NegotiatedSession?) -> [String] {
    guard let session else { return [] }
    return [(MediaKind.video, "no picture"), (.audio, "no sound")].compactMap { kind, lack in
      guard !session.media.contains(where: { $0.kind == kind && $0.direction.sends }) else { return nil }
      let rejected = session.rejected.first { $0.kind == kind && $0.direction.receives && $0.reason != .noTrack }
      return rejected.map { "\(lack): \($0.reason)" }
    }
  }

  /// The session that has to make room; nil when there is room.
  private func sessionToEvict(
    for origin: ViewerSession.Origin, _ permissions: Permissions
  ) throws(ViewerAdmission.Refusal) -> ViewerSession? {
    let candidate = ViewerAdmission.Candidate(
      credential: origin.credential, rank: credentials.rank(of: origin),
      isAdministrator: permissions.contains(.admin))
    let sessions = registry.byAge
    let places = sessions.map { session in
      ViewerAdmission.Place(
        credential: session.origin.credential, rank: credentials.rank(of: session.origin),
        isConnected: hub.connection(session.peer)?.state == .connected, wasConnected: session.isConnected,
        since: session.since)
    }
    let index = try ViewerAdmission.place(for: candidate, among: places, now: MonotonicClock.now)
    return index.map { sessions[$0] }
  }

  /// Handles an ICE restart by the viewer.
  ///
  /// - Returns: our ICE credentials and candidates; nil when this session cannot restart.
  func restartICE(of session: ViewerSession, ufrag: String, pwd: String, candidates: [String]) -> RestartedICE? {
    let restarted = hub.with(session.peer) { connection, now in
      try? connection.restartICE(ufrag: ufrag, pwd: pwd, candidates: candidates, now: now)
    }
    guard let ours = restarted.flatMap({ $0 }) else { return nil }
    hub.updateFragment(of: session.peer)
    return ours
  }
}

extension ViewerSession.Origin {
  var credential: Credential {
    switch self {
    case .whep(_, let token): .token(id: token)
    case .paired(let session): .pair(id: session.parent)
    }
  }
}
