internal import Identity
internal import NIOCore
internal import Server
internal import Signaling

/// Makes the signalling of one session after the other to the same source. Confined to the event loop but for `init`.
struct SignalingMaker {
  private enum Way {
    /// The connection is kept between sessions.
    case whep(WHEPSource, HTTPClient)
    case room(PairedChild, any EventLoop)
  }

  private let way: Way

  init(_ source: WatchOptions.Source, eventLoop: any EventLoop) throws(HTTPClientError) {
    switch source {
    case .whep(let source):
      way = .whep(source, try HTTPClient(origin: source.url.origin, trust: source.trust, eventLoop: eventLoop))
    case .child(let child):
      way = .room(child, eventLoop)
    }
  }

  /// What DTLS shows of us: with a token, which says who we are, a key for this run alone.
  static func identity(for source: WatchOptions.Source) -> NodeIdentity {
    switch source {
    case .whep: NodeIdentity.generate()
    case .child(let child): child.identity
    }
  }

  /// Connects ahead, where that helps.
  func prepare() {
    if case .whep(_, let client) = way { client.prepare() }
  }

  func make() -> any SessionSignaling {
    switch way {
    case .whep(let source, let client): WHEPSignaling(source, client: client)
    case .room(let child, let loop): RoomSignaling(child, eventLoop: loop)
    }
  }

  func close() {
    if case .whep(_, let client) = way { client.close() }
  }
}
