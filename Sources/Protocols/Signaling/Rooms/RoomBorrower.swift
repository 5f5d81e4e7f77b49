/// Whom a room server lends STUN and TURN servers.
public struct RoomBorrower: Hashable, Sendable {
  /// The host's id, or the name of a client, which is random.
  public var user: String
  /// The id of the room's host.
  public var room: String
  /// For how long at most; nil: as long as the server likes.
  public var lifetime: Duration?
  /// Since when the host has been coming here, without a break that is longer than two hours.
  public var hostKnownFor: Duration
}
