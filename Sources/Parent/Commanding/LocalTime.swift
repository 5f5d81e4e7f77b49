internal import Glibc

/// Moments as the clock on the wall shows them.
public enum LocalTime {
  /// `2026-11-21 20:52:07`, in this machine's time zone.
  public static func text(unixSeconds: Double) -> String {
    let parts = parts(unixSeconds)
    return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday)) "
      + [parts.tm_hour, parts.tm_min, parts.tm_sec].map(two).joined(separator: ":")
  }

  /// `20261121-205207`, for a file's name.
  public static func compact(unixSeconds: Double) -> String {
    text(unixSeconds: unixSeconds).filter { $0 != "-" && $0 != ":" }.replacing(" ", with: "-")
  }

  private static func parts(_ unixSeconds: Double) -> tm {
    // What no calendar holds is shown as the epoch.
    var time = time_t(exactly: unixSeconds.rounded(.down)) ?? 0
    var parts = tm()
    if localtime_r(&time, &parts) == nil { parts = tm() }
    return parts
  }

  private static func two(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
