/// A length of time in the configuration: `90s`, `5m`, `2h`.
enum ConfiguredTime {
  private static let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600]

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
