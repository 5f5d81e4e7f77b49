internal import Frames
public import NightReport
internal import Picture

/// Which night a report is about, by this machine's clock and time zone.
public struct NightChoice: Sendable {
  public var day: CalendarDay
  /// Seconds since 1970-01-01 UTC.
  public var time: Range<Int64>

  /// - Parameter day: on whose evening it begins; nil: the night that is under way, else the last one.
  public init(day: CalendarDay?, hours: NightHours) {
    let day = day ?? hours.latestDay(now: MonotonicClock.unixNanoseconds / 1_000_000_000, offset: Self.offset)
    self.day = day
    time = hours.night(of: day, offset: Self.offset)
  }

  private static func offset(_ unix: Int64) -> Int64 {
    let nanoseconds = unix.multipliedReportingOverflow(by: 1_000_000_000)
    return nanoseconds.overflow
      ? 0 : Int64(WallClockText.localUTCOffsetSeconds(unixNanoseconds: nanoseconds.partialValue))
  }
}
