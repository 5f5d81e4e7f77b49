/// Times in this machine's time zone, as all programs write them for people.
public enum LocalTime {
  /// `2026-11-21 20:52:07`; where the clock shows that twice, with its zone: `2026-10-25 02:30:00 +01:00`.
  public static func text(unixSeconds: Double) -> String {
    let clock = LocalClock(unixSeconds: unixSeconds)
    return "\(clock.year)-\(two(clock.month))-\(two(clock.day)) "
      + [clock.hour, clock.minute, clock.second].map(two).joined(separator: ":")
      + (LocalClock.isAmbiguous(unixSeconds: unixSeconds) ? " \(zone(clock))" : "")
  }

  /// `20:52`, for labels.
  public static func minutes(unixSeconds: Double) -> String {
    let clock = LocalClock(unixSeconds: unixSeconds)
    return "\(two(clock.hour)):\(two(clock.minute))"
  }

  /// `20261121-205207`, for file names.
  public static func compact(unixSeconds: Double) -> String {
    let clock = LocalClock(unixSeconds: unixSeconds)
    return "\(clock.year)\(two(clock.month))\(two(clock.day))-"
      + [clock.hour, clock.minute, clock.second].map(two).joined()
  }

  /// Whether the clock shows these minutes after midnight at some time of a span, of which a day counts.
  public static func isWithin(minutes: Int, from unixSeconds: Double, seconds: Double) -> Bool {
    stride(from: 0, through: min(max(0, seconds), 86_400), by: 30).contains { offset in
      LocalClock(unixSeconds: unixSeconds + offset).minutesOfDay == minutes
    }
  }

  /// `+01:00`
  private static func zone(_ clock: LocalClock) -> String {
    let minutes = abs(clock.offset) / 60
    return "\(clock.offset < 0 ? "-" : "+")\(two(minutes / 60)):\(two(minutes % 60))"
  }

  private static func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
