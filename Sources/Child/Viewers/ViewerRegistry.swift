internal import Control
internal import PeerConnection
internal import Server
internal import Signaling

/// What happens to viewers, for whoever observes them.
enum ViewerEvent {
  /// The connection is up for the first time.
  case connected(ViewerSession)
  /// What the connection reports, after the media side has acted on it.
  case connection(ViewerSession, PeerConnectionEvent)
  /// The credential allows something else than before.
  case permissionsChanged(ViewerSession)
  /// The session is gone, however it ended; it is in the registry no longer.
  case ended(ViewerSession)
  /// The microphone's level was measured: five times a second while somebody listens.
  case levelMeasured
  /// A second has passed.
  case secondPassed
}

/// Every open session, and whoever wants to know what becomes of them. Confined to the event loop.
final class ViewerRegistry {
  private var sessions: [PeerID: ViewerSession] = [:]
  private var observers: [(ViewerEvent) -> Void] = []

  var all: some Collection<ViewerSession> { sessions.values }
  var count: Int { sessions.count }
  var isEmpty: Bool { sessions.isEmpty }
  /// Longest here first.
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

  /// Observers are told in the order in which they began.
  func observe(_ observer: @escaping (ViewerEvent) -> Void) {
    observers.append(observer)
  }

  func tell(_ event: ViewerEvent) {
    for observer in observers { observer(event) }
  }
}
