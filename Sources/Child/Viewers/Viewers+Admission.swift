internal import Frames
internal import Pairing
internal import PeerConnection
internal import Pipelines
internal import SDP
internal import Server
internal import Signaling

// How a viewer comes in, whichever way its offer came.
extension Viewers {
  /// Who asks.
  struct Guest {
    /// The token's or the pair record's.
    var name: String
    /// The pair record's id; nil with a token.
    var pair: String?
    var permissions: Permissions
  }

  /// Takes an offer.
  ///
  /// - Parameters:
  ///   - session: what signalling calls it.
  ///   - camera: index; nil for the one that is streamed.
  /// - Returns: the answer.
  func admit(
    _ offer: SessionDescription, _ guest: Guest, session: String, camera: Int? = nil, includingLoopback: Bool
  ) throws(PeerHubError) -> (PeerID, SessionDescription) {
    let camera = camera ?? activeCamera
    let (peer, answer) = try hub.connect(
      offer: offer, configuration: peerConfiguration(permissions: guest.permissions, camera: camera),
      includingLoopback: includingLoopback)
    let sent = hub.connection(peer)?.negotiated?.media.filter(\.direction.sends) ?? []
    add(
      Viewer(
        peer: peer, session: session, name: guest.name, pair: guest.pair, permissions: guest.permissions,
        camera: camera, seesPicture: sent.contains { $0.kind == .video },
        hearsSound: sent.contains { $0.kind == .audio }, since: MonotonicClock.now))
    return (peer, answer)
  }

  /// Takes a viewer's ICE restart.
  ///
  /// - Returns: our side of it; nil when this session cannot restart.
  func restartICE(of peer: PeerID, ufrag: String, pwd: String, candidates: [String]) -> RestartedICE? {
    let restarted = hub.with(peer) { connection, now in
      try? connection.restartICE(ufrag: ufrag, pwd: pwd, candidates: candidates, now: now)
    }
    guard let ours = restarted.flatMap({ $0 }) else { return nil }
    hub.updateFragment(of: peer)
    return ours
  }
}
