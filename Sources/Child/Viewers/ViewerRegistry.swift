internal import PeerConnection
internal import Server
internal import Signaling

/// Viewer events, for observers.
enum ViewerEvent {
  /// The connection is up for the first time.
  case connected(ViewerSession)
  /// An event of the connection, after the media side has handled it.
  case connection(ViewerSession, PeerConnectionEvent)
  /// The credential's permissions have changed.
  case permissionsChanged(ViewerSession)
  /// The session has ended, for whatever reason, and is no longer in the registry.
  case ended(ViewerSession)
  /// The microphone's level was measured: five times a second while somebody listens.
  case levelMeasured
  /// A second has passed.
  case secondPassed
}

/// All open sessions, and the observers of their events. Confined to the event loop.
final class ViewerRegistry {
  private var sessions: [PeerID: ViewerSession] = [:]
  private var observers: [(ViewerEvent) -> Void] = []

  var all: some Collection<ViewerSession> { sessions.values }
  var isEmpty: Bool { sessions.isEmpty }
  /// Oldest first.
  var byAge: [ViewerSession] { sessions.values.sorted { $0.since < $1.since } }

  subscript(peer: PeerID) -> ViewerSession? { sessions[peer] }

  func session(whep id: WHEPSessionID) -> ViewerSession? {
    sessions.values.first { if case .whep(id, _) = $0.origin { true } else { false } }
  }

  func session(paired id: PairedSessionID) -> ViewerSession? {
    sessions.values.first { $0.origin == .paired(id) }
  }

  func add(_ session: ViewerSession) {
    sessions[session.peer] = session
  }

  func remove(_ session: ViewerSession) {
    sessions[session.peer] = nil
  }

  /// Observers are called in the order in which they were added.
  func observe(_ observer: @escaping (ViewerEvent) -> Void) {
    observers.append(observer)
  }

  func notify(_ event: ViewerEvent) {
    for observer in observers { observer(event) }
  }
}
