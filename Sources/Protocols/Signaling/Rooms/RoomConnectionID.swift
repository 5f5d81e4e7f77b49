/// Identifies one connection to the room server while it lasts.
public struct RoomConnectionID: Hashable, Sendable {
  public var number: UInt64

  public init(number: UInt64) {
    self.number = number
  }
}
