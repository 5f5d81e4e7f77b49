internal import Linux

/// Times of day in this machine's time zone.
public enum LocalTime {
  /// `2026-11-21 20:52:07`.
  public static func text(unixSeconds: Double) -> String {
    let clock = LocalClock(unixSeconds: unixSeconds)
    return "\(clock.year)-\(two(clock.month))-\(two(clock.day)) "
      + [clock.hour, clock.minute, clock.second].map(two).joined(separator: ":")
  }

  /// `20261121-205207`, for file names.
  public static func compact(unixSeconds: Double) -> String {
    text(unixSeconds: unixSeconds).filter { $0 != "-" && $0 != ":" }.replacing(" ", with: "-")
  }

  /// Whether the clock shows these minutes after midnight at some time of a span, of which a day counts.
  public static func isWithin(minutes: Int, from unixSeconds: Double, seconds: Double) -> Bool {
    stride(from: 0, through: min(max(0, seconds), 86_400), by: 30).contains { offset in
      LocalClock(unixSeconds: unixSeconds + offset).minutesOfDay == minutes
    }
  }

  private static func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
