internal import Wire

/// A length of time for people: `0:42`, `9:58`, `1:02:03`.
public enum ElapsedTime {
  /// Negative lengths are shown as `0:00`.
  public static func text(_ seconds: Int) -> String {
    let two = { (value: Int) in value < 10 ? "0\(value)" : "\(value)" }
    let seconds = max(0, seconds)
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    return hours > 0 ? "\(hours):\(two(minutes)):\(two(seconds % 60))" : "\(minutes):\(two(seconds % 60))"
  }

  /// The same for a number that a child sent, which may be any.
  public static func text(_ seconds: Double) -> String { text(Int(saturating: seconds)) }
}
