internal import Wire

/// What messages for absent clients take of memory, in all and by the address that sent them, so that one address does not use
/// up what is there for everybody.
struct WaitingBytes: Sendable {
  private(set) var total = 0
  private var byAddress: [IPAddress?: Int] = [:]

  func canTake(_ message: Room.Waiting, limits: RoomLimits) -> Bool {
    total + message.bytes <= limits.maximumWaitingBytes
      && byAddress[message.address, default: 0] + message.bytes <= limits.maximumWaitingBytesPerAddress
  }

  mutating func add(_ message: Room.Waiting) {
    total += message.bytes
    byAddress[message.address, default: 0] += message.bytes
  }

  mutating func remove(_ messages: [Room.Waiting]) {
    for message in messages {
      total -= message.bytes
      let left = byAddress[message.address, default: 0] - message.bytes
      byAddress[message.address] = left > 0 ? left : nil
    }
  }
}
