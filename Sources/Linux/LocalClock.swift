public import Glibc

/// The wall clock in this machine's time zone.
public enum LocalClock {
  /// Calendar and clock, as localtime_r(3) has them: `tm_year` counts from 1900. A time that cannot be represented is the
  /// epoch.
  public static func parts(unixSeconds: Double) -> tm {
    var time = time_t(exactly: unixSeconds.rounded(.down)) ?? 0
    var parts = tm()
    if localtime_r(&time, &parts) == nil { parts = tm() }
    return parts
  }

  /// Minutes after midnight.
  public static func minutesOfDay(unixSeconds: Double) -> Int {
    let parts = parts(unixSeconds: unixSeconds)
    return Int(parts.tm_hour) * 60 + Int(parts.tm_min)
  }
}
