internal import Identity
internal import NIOCore
internal import Server
internal import Signaling

/// Makes the signalling for each session with one source. Confined to the event loop, except for `init`.
struct SignalingFactory {
  private enum Source {
    /// The connection is kept between sessions.
    case whep(WHEPSource, HTTPClient)
    case room(PairedChild, any EventLoop)
  }

  private let source: Source

  init(_ source: WatchOptions.Source, eventLoop: any EventLoop) throws(HTTPClientError) {
    switch source {
    case .whep(let source):
      self.source = .whep(source, try HTTPClient(origin: source.url.origin, trust: source.trust, eventLoop: eventLoop))
    case .child(let child):
      self.source = .room(child, eventLoop)
    }
  }

  /// The key behind our DTLS certificate. With a token, which says who we are, it is a key for this run only.
  static func identity(for source: WatchOptions.Source) -> NodeIdentity {
    switch source {
    case .whep: NodeIdentity.generate()
    case .child(let child): child.identity
    }
  }

  /// Connects in advance, where that helps.
  func prepare() {
    if case .whep(_, let client) = source { client.prepare() }
  }

  func make() -> any SessionSignaling {
    switch source {
    case .whep(let source, let client): WHEPSignaling(source, client: client)
    case .room(let child, let loop): RoomSignaling(child, eventLoop: loop)
    }
  }

  /// Waits for what is being written of the child.
  func finishWrites() async {
    if case .room(let child, _) = source { await child.away.writes.finish() }
  }

  func close() {
    if case .whep(_, let client) = source { client.close() }
  }
}
