import Wire

/// Rate at which packets arrive, in bits per second, over the last half second of the receiver's clock; or are sent, over as
/// many slots of ours.
struct AcknowledgedRate: Sendable {
  private let slotNanoseconds: Int64
  private static let slotCount = 20
  private var slots = Array(repeating: 0, count: slotCount)
  private var newest: Int64?
  private var oldest: Int64 = 0

  init(slot: Duration = .milliseconds(25)) { slotNanoseconds = slot.nanoseconds }

  mutating func add(bytes: Int, arrivedAt: Int64) {
    let slot = arrivedAt / slotNanoseconds
    if let newest, slot > newest - Int64(Self.slotCount), slot < newest &+ 200 {
      // Nothing arrived in the slots in between.
      var next = newest
      while next < slot {
        next += 1
        slots[index(next)] = 0
      }
      self.newest = next
    } else {
      slots = Array(repeating: 0, count: Self.slotCount)
      newest = slot
      oldest = slot
    }
    slots[index(slot)] += bytes
  }

  /// Nil until there is half a second of data.
  var bitsPerSecond: Double? {
    guard let newest, newest - oldest >= Int64(Self.slotCount) else { return nil }
    // The newest slot is still being filled.
    let bytes = slots.reduce(0, +) - slots[index(newest)]
    return Double(bytes) * 8e9 / (Double(slotNanoseconds) * Double(Self.slotCount - 1))
  }

  /// Over the last fifth of a second: a path that has just become slower. Nil until there is as much data.
  var recentBitsPerSecond: Double? {
    guard let newest, newest - oldest >= Self.recentSlots else { return nil }
    let bytes = (1...Self.recentSlots).reduce(0) { $0 + slots[index(newest - $1)] }
    return Double(bytes) * 8e9 / (Double(slotNanoseconds) * Double(Self.recentSlots))
  }

  private static let recentSlots: Int64 = 8

  private func index(_ slot: Int64) -> Int {
    let remainder = Int(slot % Int64(Self.slotCount))
    return remainder < 0 ? remainder + Self.slotCount : remainder
  }
}
