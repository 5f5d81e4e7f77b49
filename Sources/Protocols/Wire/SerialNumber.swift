/// Arithmetic on counters that wrap: RTP sequence numbers (RFC 3550), SCTP TSNs and SSNs (RFC 9260 section 1.6),
/// after RFC 1982.
extension FixedWidthInteger where Self: UnsignedInteger {
  /// Whether this value comes after `other` in serial number order. A distance of exactly half the range counts as not
  /// after.
  public func isAfter(serial other: Self) -> Bool {
    let distance = self &- other
    return distance != 0 && distance < (1 << (Self.bitWidth - 1))
  }

  public func isAtOrAfter(serial other: Self) -> Bool {
    self == other || isAfter(serial: other)
  }
}

/// Unwraps a wrapping counter, choosing the value nearest to the last one seen.
public struct SerialUnwrapper<Counter: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
  private var last: Int64?

  public init() {}

  /// The unwrapped value; the first one is the counter's own. May be negative if the first values arrive out of order.
  public mutating func unwrap(_ value: Counter) -> Int64 {
    guard let last else {
      self.last = Int64(value)
      return Int64(value)
    }
    let lastCounter = Counter(truncatingIfNeeded: last)
    let forward = Int64(value &- lastCounter)
    let circle = Int64(1) << Int64(Counter.bitWidth)
    let result = forward < circle / 2 ? last &+ forward : last &+ forward &- circle
    self.last = result
    return result
  }
}
