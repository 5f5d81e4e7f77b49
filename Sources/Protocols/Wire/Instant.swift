/// A point on a monotonic time line, in nanoseconds since an origin that only the shell knows.
///
/// Cores never read a clock: every call that depends on time takes an `Instant`, so a test can pass any.
public struct Instant: Comparable, Hashable, Sendable {
  /// Nanoseconds since the origin.
  public var nanoseconds: Int64

  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The origin itself; tests usually begin here.
  public static let zero = Instant(nanoseconds: 0)
  /// Later than any instant that a shell can pass.
  public static let distantFuture = Instant(nanoseconds: .max)

  public static func < (left: Instant, right: Instant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// Saturates at `distantFuture`.
  public static func + (instant: Instant, duration: Duration) -> Instant {
    let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.nanoseconds)
    return Instant(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
  }

  public static func - (instant: Instant, duration: Duration) -> Instant {
    instant + (.zero - duration)
  }

  /// The signed time from `right` to `left`.
  public static func - (left: Instant, right: Instant) -> Duration {
    .nanoseconds(left.nanoseconds.subtractingReportingOverflow(right.nanoseconds).partialValue)
  }

  public static func += (instant: inout Instant, duration: Duration) {
    instant = instant + duration
  }
}

/// Optional deadlines: nil means none.
extension Optional<Instant> {
  /// Whether the deadline is reached at `now`.
  public func isDue(at now: Instant) -> Bool {
    map { $0 <= now } ?? false
  }

  /// Becomes `other` if that is earlier.
  public mutating func bringForward(to other: Instant?) {
    if let other { self = Swift.min(self ?? other, other) }
  }
}

extension Duration {
  /// Whole nanoseconds, saturating: 292 years either way.
  public var nanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }

  /// Fractional milliseconds.
  public var inMilliseconds: Double { Double(nanoseconds) / 1e6 }

  /// Fractional seconds.
  public var inSeconds: Double { Double(nanoseconds) / 1e9 }
}

/// Relates the monotonic time line to the wall clock, for wall-clock timestamps on the wire (NTP time in RTCP sender
/// reports, RFC 3550 section 4; abs-capture-time).
public struct WallClockReference: Sendable, Hashable {
  /// A point on the monotonic time line.
  public var instant: Instant
  /// Nanoseconds since 1970-01-01 UTC at that point.
  public var unixNanoseconds: Int64

  public init(instant: Instant, unixNanoseconds: Int64) {
    self.instant = instant
    self.unixNanoseconds = unixNanoseconds
  }

  /// Nanoseconds since 1970-01-01 UTC at `now`.
  public func unixNanoseconds(at now: Instant) -> Int64 {
    unixNanoseconds &+ (now - instant).nanoseconds
  }

  /// 64-bit NTP time (32.32 fixed point, seconds since 1900) at `now`. RFC 3550 section 4.
  public func ntpTime(at now: Instant) -> UInt64 {
    let unix = unixNanoseconds(at: now)
    let (seconds, fraction) = unix.quotientAndRemainder(dividingBy: 1_000_000_000)
    let ntpSeconds = UInt64(bitPattern: seconds &+ 2_208_988_800) & 0xffff_ffff
    return ntpSeconds << 32 | (UInt64(max(0, fraction)) << 32) / 1_000_000_000
  }
}
