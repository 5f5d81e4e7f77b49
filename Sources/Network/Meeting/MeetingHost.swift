public import Signaling
public import Wire

/// The child's end of a meeting place: a server on the Internet where parents find the child and leave signed messages for
/// it. The place sees who meets whom and when; it cannot read pictures or sound, and a message that it makes up is refused.
///
/// Confined to one event loop. A host keeps its connection by itself: what is lost is made again with `MeetingRetry`.
public protocol MeetingHost: AnyObject {
  /// Called on the event loop, never from within a call.
  var onEvent: (MeetingHostEvent) -> Void { get set }

  /// Connects, and stays connected.
  ///
  /// - Parameter presence: signed; shown to every parent that comes (`Presence`).
  func open(presence: String)
  /// Shows a newer presence.
  func announce(presence: String)
  /// To a client that has sent a message; lost if the client is gone.
  func send(to client: String, message: String)
  /// This client is a paired parent. What the place lends it lasts for `lifetime` at most; nil: as long as the place likes.
  func vouch(for client: String, lifetime: Duration?)
  /// This client is none. `reason` is for a person.
  func dismiss(_ client: String, reason: String)
  /// Addresses of this machine have come or gone, so the connection may be dead without a word: from an address that is
  /// gone it is made anew at once, any other has to show that it lives.
  ///
  /// - Parameter own: the addresses that this machine has now.
  func addressesChanged(_ own: Set<IPAddress>)
  /// The network seems to have changed beyond this machine: the connection has to show that it lives.
  func verify()
  /// Leaves the place, so that parents know at once. `done` is called on the event loop when the place has been told, or
  /// cannot be. No event follows.
  func close(then done: @escaping () -> Void)
}

public enum MeetingHostEvent: Sendable {
  /// Parents can find the child there.
  case present
  /// They cannot; for a person. It is being tried again.
  case absent(reason: String)
  /// Its connection is from an address that is gone.
  static let moved: MeetingHostEvent = .absent(reason: "this machine's addresses have changed")
  /// A client's message, with the client's name.
  case message(from: String, String)
  /// The place lends servers that help to connect, with credentials for us; `place` is where it was reached.
  case iceServers([RoomICEServer], place: IPAddress?)
}
