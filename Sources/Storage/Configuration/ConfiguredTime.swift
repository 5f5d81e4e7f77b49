/// A length of time in the configuration: `90s`, `5m`, `2h`, `30d`; a time of day: `19:30`.
enum ConfiguredTime {
  private static let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]

  /// Minutes after midnight of a time from `0:00` to `23:59`; nil for anything else.
  static func minutesOfDay(_ text: String) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, (1...2).contains(parts[0].utf8.count), parts[1].utf8.count == 2,
      parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }), let hour = Int(parts[0]),
      let minute = Int(parts[1]), hour < 24, minute < 60
    else { return nil }
    return hour * 60 + minute
  }

  /// Nil for anything else. At most five digits.
  static func duration(_ text: String) -> Duration? {
    guard let letter = text.last, let unit = units[letter] else { return nil }
    let digits = text.dropLast()
    guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) }),
      let number = Int(digits)
    else { return nil }
    return .seconds(number * unit)
  }
}
