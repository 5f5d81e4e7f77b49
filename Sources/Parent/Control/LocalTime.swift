internal import Glibc
internal import Linux

/// Times of day in this machine's time zone.
public enum LocalTime {
  /// `2026-11-21 20:52:07`.
  public static func text(unixSeconds: Double) -> String {
    let parts = LocalClock.parts(unixSeconds: unixSeconds)
    // `tm_year` counts from 1900 and may be close to the largest Int32.
    return "\(Int(parts.tm_year) + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday)) "
      + [parts.tm_hour, parts.tm_min, parts.tm_sec].map(two).joined(separator: ":")
  }

  /// `20261121-205207`, for file names.
  public static func compact(unixSeconds: Double) -> String {
    text(unixSeconds: unixSeconds).filter { $0 != "-" && $0 != ":" }.replacing(" ", with: "-")
  }

  /// Whether the clock shows these minutes after midnight at some time of a span, of which a day counts.
  public static func isWithin(minutes: Int, from unixSeconds: Double, seconds: Double) -> Bool {
    stride(from: 0, through: min(max(0, seconds), 86_400), by: 30).contains { offset in
      LocalClock.minutesOfDay(unixSeconds: unixSeconds + offset) == minutes
    }
  }

  private static func two(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
