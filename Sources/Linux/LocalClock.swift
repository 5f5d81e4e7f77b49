internal import Glibc

/// The wall clock in this machine's time zone.
public struct LocalClock: Hashable, Sendable {
  public let year: Int
  /// From 1.
  public let month: Int
  /// From 1.
  public let day: Int
  public let hour: Int
  public let minute: Int
  /// Up to 60, in a leap second.
  public let second: Int
  /// East of Greenwich, in seconds.
  public let offset: Int
  /// Days of this clock since 1970-01-01.
  public let dayNumber: Int

  /// As localtime_r(3) has it. A time that it cannot represent is shown as the epoch.
  public init(unixSeconds: Double) {
    var time = time_t(exactly: unixSeconds.rounded(.down)) ?? 0
    var parts = tm()
    if localtime_r(&time, &parts) == nil {
      time = 0
      gmtime_r(&time, &parts)
    }
    // `tm_year` counts from 1900 and may be close to the largest Int32.
    year = Int(parts.tm_year) + 1900
    month = Int(parts.tm_mon) + 1
    day = Int(parts.tm_mday)
    hour = Int(parts.tm_hour)
    minute = Int(parts.tm_min)
    second = Int(parts.tm_sec)
    offset = parts.tm_gmtoff
    let (day, rest) = time.addingReportingOverflow(offset).partialValue.quotientAndRemainder(dividingBy: 86_400)
    dayNumber = rest < 0 ? day - 1 : day
  }

  /// Minutes after midnight.
  public var minutesOfDay: Int { hour * 60 + minute }

  /// Whether the clock shows the same once more, before or after: when it is put back in autumn.
  public static func isAmbiguous(unixSeconds: Double) -> Bool {
    let clock = LocalClock(unixSeconds: unixSeconds)
    // No zone has put its clock back by more.
    return [-10_800.0, 10_800].contains { distance in
      let other = LocalClock(unixSeconds: unixSeconds + distance).offset
      guard other != clock.offset else { return false }
      let again = LocalClock(unixSeconds: unixSeconds + Double(clock.offset - other))
      return again.offset == other
    }
  }
}
