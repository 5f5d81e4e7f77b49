internal import PeerConnection
internal import Pipelines
internal import SDP
internal import Server
internal import Wire

// Key frames for players that never ask for one.
extension Viewers {
  /// Once a second.
  func refreshPictures(now: Instant) {
    for (index, track) in cameras.enumerated() {
      track.refresh.measure(encodeNanoseconds: track.pipeline.counters.encodeNanoseconds, now: now)
      let watching = watchers(of: index).filter(\.isConnected)
      watching.forEach(noteKeyFrameRequests)
      let silent = watching.filter(\.neverAsksForKeyFrames)
      for rendition in PictureRefresh.due(silent.map { ($0.route.assignment, canAsk($0)) }) {
        track.pipeline.requestKeyFrame(of: rendition, spacing: PictureRefresh.spacing)
      }
    }
  }

  func noteKeyFrameRequests(of session: ViewerSession) {
    guard !session.asksForKeyFrames, let connection = hub.connection(session.peer) else { return }
    session.asksForKeyFrames = connection.keyFrameRequestsReceived > 0
  }

  /// Its offer has PLI or FIR for the picture.
  private func canAsk(_ session: ViewerSession) -> Bool {
    let picture = hub.connection(session.peer)?.negotiated?.media.first { $0.kind == .video }
    return picture.map { !$0.feedback.isDisjoint(with: [.pli, .fir]) } ?? false
  }
}

extension ViewerSession {
  /// As far as is known.
  var neverAsksForKeyFrames: Bool { !asksForKeyFrames && seesPicture }
}

extension NegotiatedSession {
  /// Browsers show the picture themselves, and ask when they cannot. They name the extension with which a sender bounds how long
  /// that takes; programs that pass a stream on (Pion, GStreamer, aiortc by itself) have no use for it.
  var showsPictures: Bool {
    media.contains { $0.kind == .video && $0.headerExtensionIDs[RTPHeaderExtensionURI.playoutDelay] != nil }
  }
}
