internal import Glibc

/// The wall clock as text.
public enum WallClockText {
  /// `HH:MM:SS` of the day at `utcOffsetSeconds` east of Greenwich.
  public static func time(unixNanoseconds: Int64, utcOffsetSeconds: Int) -> String {
    let seconds = floorDivide(unixNanoseconds, 1_000_000_000) &+ Int64(utcOffsetSeconds)
    let second = Int(seconds - floorDivide(seconds, 86400) * 86400)
    return [second / 3600, second / 60 % 60, second % 60].map { twoDigits($0) }.joined(separator: ":")
  }

  /// `HH:MM:SS.mmm`.
  public static func timeWithMilliseconds(unixNanoseconds: Int64, utcOffsetSeconds: Int) -> String {
    let milliseconds = floorDivide(unixNanoseconds, 1_000_000)
    let rest = Int(milliseconds - floorDivide(milliseconds, 1000) * 1000)
    let time = time(unixNanoseconds: unixNanoseconds, utcOffsetSeconds: utcOffsetSeconds)
    return "\(time).\(rest / 100)\(twoDigits(rest % 100))"
  }

  /// Seconds east of Greenwich in the system's time zone at that time, daylight saving included. localtime_r(3).
  public static func localUTCOffsetSeconds(unixNanoseconds: Int64) -> Int {
    var seconds = time_t(floorDivide(unixNanoseconds, 1_000_000_000))
    var parts = tm()
    guard localtime_r(&seconds, &parts) != nil else { return 0 }
    return parts.tm_gmtoff
  }

  private static func twoDigits(_ value: Int) -> String {
    value < 10 ? "0\(value)" : "\(value)"
  }

  private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
    let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? quotient - 1 : quotient
  }
}
