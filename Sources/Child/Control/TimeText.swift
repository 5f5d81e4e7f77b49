/// Lengths of time, for people.
enum TimeText {
  /// `42 s`, `5 min`, `3 h 20 min`, `2 days 4 h`, `34 years 2 days`: two units at most, and none that is 0.
  static func words(seconds: Int64) -> String {
    if seconds < 120 { return "\(seconds) s" }
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400)
    if hours < 2 { return "\(minutes) min" }
    if hours < 48 { return joined([(hours, "h", "h"), (minutes % 60, "min", "min")]) }
    // A year of the calendar has 365.2425 days.
    var years = (days + 1) * 10_000 / 3_652_425
    if length(ofYears: years) > days { years -= 1 }
    if years < 1 { return joined([(days, "day", "days"), (hours % 24, "h", "h")]) }
    return joined([(years, "year", "years"), (days - length(ofYears: years), "day", "days")])
  }

  /// In days.
  private static func length(ofYears years: Int64) -> Int64 { (years * 3_652_425 + 5000) / 10_000 }

  private static func joined(_ parts: [(count: Int64, one: String, many: String)]) -> String {
    parts.filter { $0.count > 0 }.map { "\($0.count) \($0.count == 1 ? $0.one : $0.many)" }.joined(separator: " ")
  }
}
