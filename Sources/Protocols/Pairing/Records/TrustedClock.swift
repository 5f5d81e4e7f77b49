public import Wire

/// The date that decides whether something has expired. It never goes back or stands still.
///
/// The system's date can be wrong: a board without a real-time clock starts in 1970, and anyone who can answer NTP can
/// set it back. So the clock continues from the latest date seen (`mark`) at the pace of the monotonic clock until the
/// system's date is later again. The owner keeps `mark` on disk; after a restart only the time without power is
/// missing.
public struct TrustedClock: Hashable, Sendable {
  private var base: UnixTime
  /// When `base` was the date.
  private var baseInstant: Instant
  /// The latest date that `date(system:now:)` has returned. Keep it on disk.
  public private(set) var mark: UnixTime

  /// - Parameters:
  ///   - mark: the latest date of earlier runs; nil when none is known.
  ///   - now: monotonic.
  public init(mark: UnixTime?, now: Instant) {
    base = mark ?? UnixTime(seconds: 0)
    baseInstant = now
    self.mark = base
  }

  /// The date now: the system's, or the continued mark, whichever is later.
  public mutating func date(system: UnixTime, now: Instant) -> UnixTime {
    let elapsed = max(0, (now - baseInstant).components.seconds)
    let continued = UnixTime(seconds: base.seconds + elapsed)
    // The base moves only when the system's date is ahead: every move loses fractions of a second.
    if system > continued {
      base = system
      baseInstant = now
    }
    mark = max(mark, system, continued)
    return mark
  }

  /// How far the system's date is behind, in seconds; 0 when it is not.
  public func secondsAhead(of system: UnixTime) -> Int64 {
    max(0, mark.seconds - system.seconds)
  }
}
