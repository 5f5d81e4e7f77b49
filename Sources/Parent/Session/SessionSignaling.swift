internal import Control
internal import PeerConnection
internal import SDP
internal import TURN
internal import Wire

/// What signalling reports to its session. On the event loop.
enum SignalingEvent {
  case answered(SessionDescription)
  case candidates([String], isComplete: Bool)
  /// The ICE restart was accepted; these are the other side's credentials and candidates.
  case restarted(ufrag: String, pwd: String, candidates: [String])
  /// It will be retried after this time; the text says why.
  case waiting(String, Duration)
  /// The child has not been found yet; for a person. It is still being looked for.
  case searching(String)
  /// Further servers that help to find a path.
  case servers([ICEServer])
  /// The child's program seems to have ended: the signalling connection of an open session was closed, or another process
  /// has announced itself. The session may go on.
  case detached
  /// A new signalling connection has taken its place; an ICE restart has to follow.
  case attached
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
  var reportsReasons: Bool { get }
  /// STUN and TURN servers, for candidates when the other side is elsewhere.
  var servers: [ICEServer] { get }
  /// Call once. `makeOffer` is called when the other side has been reached, with how far away it is, and again when another
  /// way to it is tried: what was offered before has ended. If it returns nil, nothing more happens.
  func start(makeOffer: @escaping (_ reach: NetworkReach) -> SessionDescription?)
  /// The session has media.
  func settle()
  /// The other side has answered, and no path for media was found.
  ///
  /// - Returns: whether another way to it is tried; then `makeOffer` is called again, or `over` follows.
  func hasNoMedia(because reason: String) -> Bool
  /// A candidate of ours that came after the offer; nil: the last one has come.
  func addLocalCandidate(_ candidate: String?)
  func restartICE(_ ours: RestartedICE)
  /// The child has announced how it is reached from elsewhere.
  func follow(_ away: AwayDocument)
  /// Addresses of this machine have appeared or gone: a connection from one that is gone is replaced at once.
  func addressesChanged(_ own: Set<IPAddress>)
  /// The other side sends from another address now, or nothing has come for a while: the signalling connection may be dead.
  func pathChanged(to remote: IPAddress?)
  /// Ends the session. `then` is called when the other side has been notified, or cannot be. No event follows.
  func leave(then: @escaping () -> Void)
}
