internal import PeerConnection
internal import SDP

/// What signalling has to say to the session that it is for. On the event loop.
enum SignalingEvent {
  case answered(SessionDescription)
  case candidates([String], isComplete: Bool)
  /// The ICE restart is agreed; this is the other side's.
  case restarted(ufrag: String, pwd: String, candidates: [String])
  /// It is tried again by itself after this time; the text says why.
  case waiting(String, Duration)
  /// The last one.
  case over(SessionEnd)
}

/// How descriptions and candidates get to the other side and back: by WHEP, or through a paired child's room.
/// Confined to the event loop.
protocol SessionSignaling: AnyObject {
  /// Set before `start`.
  var notify: (SignalingEvent) -> Void { get set }
  /// Whether an ICE restart could be negotiated now.
  var canRestart: Bool { get }
  /// Why the other side ends a session is said here too, about when the connection ends.
  var tellsReasons: Bool { get }
  /// Once. `makeOffer` is called when the other side can be reached, `isLocal` when it sits on this machine, so that
  /// loopback addresses are of use. Without an offer nothing more happens.
  func start(makeOffer: @escaping (_ isLocal: Bool) -> SessionDescription?)
  func restartICE(_ ours: RestartedICE)
  /// Ends the session; `then` is called when the other side knows, or cannot be told. No event follows.
  func leave(then: @escaping () -> Void)
}
