/// A credential that connections are counted by: so many of them keep their places when strangers want them.
public struct ConnectionCredential: Hashable, Sendable {
  /// Names the credential; the same for all its connections. Never a secret.
  public var id: String
  /// Of a paired parent whose access does not expire: some places are for these alone.
  public var isParent: Bool
  /// How many connections may have a place at once; another takes the place of the oldest, which counts as a stranger's then.
  public var maximumConnections: Int

  public init(id: String, isParent: Bool, maximumConnections: Int) {
    self.id = id
    self.isParent = isParent
    self.maximumConnections = maximumConnections
  }
}

/// What a client has shown, so that its connection is more than a stranger's.
public enum ConnectionStanding: Hashable, Sendable {
  /// It holds a valid credential.
  case holder(ConnectionCredential)
  /// It is pairing, which is possible now.
  case pairing
}
