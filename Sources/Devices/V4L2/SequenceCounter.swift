/// Extends the driver's 32-bit sequence number to 64 bits.
struct SequenceCounter: Sendable {
  private var last: UInt32?
  private var total: UInt64 = 0

  /// From 0 for the first picture. Keeps counting up even if the driver restarts its count or never counts.
  mutating func extend(_ sequence: UInt32) -> UInt64 {
    defer { last = sequence }
    guard let last else { return 0 }
    let step = sequence &- last
    total += step == 0 || step > 1 << 16 ? 1 : UInt64(step)
    return total
  }
}
