internal import PeerConnection
internal import SDP

/// What signalling reports to its session. On the event loop.
enum SignalingEvent {
  case answered(SessionDescription)
  case candidates([String], isComplete: Bool)
  /// The ICE restart was accepted; these are the other side's credentials and candidates.
  case restarted(ufrag: String, pwd: String, candidates: [String])
  /// It will be retried after this time; the text says why.
  case waiting(String, Duration)
  /// The signalling connection of an open session was closed, as when the child's program ends. The session may go on.
  case detached
  /// The last event.
  case over(SessionEnd)
}

/// Carries descriptions and candidates to the other side and back: by WHEP, or through a paired child's room.
/// Confined to the event loop.
protocol SessionSignaling: AnyObject {
  /// Set before `start`.
  var notify: (SignalingEvent) -> Void { get set }
  /// Whether an ICE restart could be negotiated now.
  var canRestart: Bool { get }
  /// Whether the other side sends its reason for ending a session here, at about the time when the connection ends.
  var tellsReasons: Bool { get }
  /// Call once. `makeOffer` is called when the other side has been reached; `isLocal` is true when it runs on this
  /// machine, so that loopback candidates are useful. If it returns nil, nothing more happens.
  func start(makeOffer: @escaping (_ isLocal: Bool) -> SessionDescription?)
  func restartICE(_ ours: RestartedICE)
  /// Ends the session. `then` is called when the other side has been told, or cannot be. No event follows.
  func leave(then: @escaping () -> Void)
}
