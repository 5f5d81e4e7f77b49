internal import Frames
internal import PeerConnection
internal import SDP
internal import Server
internal import Signaling
internal import Storage
internal import VideoFormats
internal import Wire

extension Viewers {
  /// Admits a viewer without a peer connection, by the same rules as one with an offer, and sends it its media from now on.
  ///
  /// - Parameters:
  ///   - camera: index; nil: it gets no picture.
  ///   - codec: of the picture.
  ///   - hasSound: it gets the sound.
  ///   - kbps: what its path carries, as far as is known.
  func admit(
    _ outlet: any MediaOutlet, token: TokenRecord, camera: Int? = nil, codec: VideoCodec = .vp8, hasSound: Bool,
    kbps: Int? = nil
  ) throws(ViewerAdmission.Refusal) -> ViewerSession {
    let origin = ViewerSession.Origin.stream(token: token.id)
    let evicted = try sessionToEvict(for: origin, token.allow)
    try starts.count(origin.credential, rank: credentials.rank(of: origin), now: MonotonicClock.now)
    if let evicted { end(evicted, because: .busy) }
    let session = ViewerSession(
      peer: hub.reserveID(), origin: origin, name: token.name, permissions: token.allow,
      camera: camera ?? activeCamera, hasPictureTrack: camera != nil, hasSoundTrack: hasSound, codec: codec,
      since: MonotonicClock.now, reach: .localNetwork, outlet: outlet)
    session.estimateKbps = kbps
    add(session)
    stateChanged(.connected, of: session)
    return session
  }

  /// A viewer without a peer connection has ended its connection.
  func outletEnded(_ session: ViewerSession) {
    guard session.endReason == nil, registry[session.peer] != nil else { return }
    session.endReason = .left
    stateChanged(.closed, of: session)
  }

  /// Index of the camera with this id; the one that is streamed without an id.
  func camera(named id: String?) throws(Problem) -> Int {
    guard let id else {
      guard !cameras.isEmpty else { throw Problem(503, "the baby unit has no camera") }
      return activeCamera
    }
    guard let index = cameraIndex(id) else { throw Problem(404, "there is no camera of this name") }
    return index
  }
}
