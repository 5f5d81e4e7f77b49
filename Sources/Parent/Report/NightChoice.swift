internal import Frames
internal import Linux
public import NightReport

/// Which night a report is about, by this machine's clock and time zone.
public struct NightChoice: Sendable {
  /// Seconds since 1970-01-01 UTC.
  public var time: Range<Int64>

  /// - Parameter day: on whose evening it begins; nil: the night that is under way, else the last one.
  public init(day: CalendarDay?, hours: NightHours) {
    let day = day ?? hours.latestDay(now: MonotonicClock.unixSeconds, offset: Self.offset)
    time = hours.night(of: day, offset: Self.offset)
  }

  private static func offset(_ unix: Int64) -> Int64 {
    let clock = LocalClock(unixSeconds: Double(unix))
    return Int64(clock.offset)
  }
}
