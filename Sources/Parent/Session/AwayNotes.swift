internal import Control
internal import Storage
internal import Synchronization
internal import TURN

/// How one child is reached from elsewhere, as it has told; kept on disk for the next run.
final class AwayNotes: Sendable {
  private let child: String
  private let state: ParentState
  private let known: Mutex<[ICEServer]>

  /// Reads what the child has told before. What cannot be read is told again at home.
  init(child: String, state: ParentState) {
    self.child = child
    self.state = state
    let servers = (try? state.away())?.servers(of: child) ?? []
    known = Mutex(servers.compactMap(ICEServer.init))
  }

  var servers: [ICEServer] { known.withLock { $0 } }

  /// Takes over what the child tells now. Writes the file on another thread, as the disk may be slow.
  func follow(_ document: AwayDocument) {
    let servers = document.iceServers.map {
      AwayStore.Server(urls: $0.urls, username: $0.username, credential: $0.credential)
    }
    let usable = servers.compactMap(ICEServer.init)
    let isNew = known.withLock { known in
      defer { known = usable }
      return known != usable
    }
    guard isNew else { return }
    let (child, state) = (child, state)
    Task { try? state.changeAway { try $0.remember(servers, of: child) } }
  }
}

extension ICEServer {
  /// Nil if none of its addresses can be read: a later version of the child may name others.
  init?(_ stored: AwayStore.Server) {
    let urls = stored.urls.compactMap(ICEServerURL.init)
    guard !urls.isEmpty else { return nil }
    self.init(urls: urls, username: stored.username, credential: stored.credential)
  }
}
