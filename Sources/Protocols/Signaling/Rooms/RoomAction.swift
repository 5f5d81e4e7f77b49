/// Actions for the shell, in order.
public enum RoomAction: Hashable, Sendable {
  case send(RoomConnectionID, RoomReply)
  /// Send, and call `delivered` when the connection has taken it: another may follow then.
  case deliver(RoomConnectionID, RoomReply)
  /// Send the error and close. The connection is forgotten already.
  case close(RoomConnectionID, RoomError)
}
