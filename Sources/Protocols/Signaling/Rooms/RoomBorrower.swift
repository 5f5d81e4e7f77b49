/// Whom a room server lends STUN and TURN servers.
public struct RoomBorrower: Hashable, Sendable {
  /// The host's id, or the name of a client, which is random.
  public var user: String
  /// For how long at most; nil: as long as the server likes.
  public var lifetime: Duration?

  public init(user: String, lifetime: Duration?) {
    self.user = user
    self.lifetime = lifetime
  }
}
