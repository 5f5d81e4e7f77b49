/// A wall-clock time, for dates that outlive a process: whole seconds since 1970-01-01 UTC.
public struct UnixTime: Comparable, Hashable, Sendable {
  public let seconds: Int64

  /// Clamped to 1970...9999, which ISO 8601 writes with four digits: a peer's date must not make a store unreadable.
  public init(seconds: Int64) {
    self.seconds = min(max(seconds, 0), 253_402_300_799)
  }

  /// Whether this is so much later than `date` that one of the two clocks was wrong. An expiry computed from such a
  /// date cannot be trusted.
  public func isInTheFuture(of date: UnixTime) -> Bool {
    seconds - date.seconds > Self.secondsInADay
  }

  private static let secondsInADay: Int64 = 86_400

  public static func < (left: UnixTime, right: UnixTime) -> Bool {
    left.seconds < right.seconds
  }
}
