// Numbers with a unit.
extension ConfigurationSection {
  /// Digits and one unit; nil if the key is missing, null or refused.
  private func quantity(_ key: String, _ units: [Character: Int], in range: ClosedRange<Int>, _ what: String) -> Int? {
    func value(_ text: String) -> Int? {
      guard let unit = text.last.flatMap({ units[$0] }), text.utf8.count <= 10, let number = Int(text.dropLast()),
        number >= 0, text.first != "+"
      else { return nil }
      let (product, isTooLarge) = number.multipliedReportingOverflow(by: unit)
      return !isTooLarge && range.contains(product) ? product : nil
    }
    return self.text(key, what: what) { value($0) != nil }.flatMap(value)
  }

  /// A length of time in seconds: `90s`, `5m`, `2h`, `30d`.
  func seconds(_ key: String, in range: ClosedRange<Int>, _ what: String) -> Int? {
    quantity(key, ["s": 1, "m": 60, "h": 3600, "d": 86_400], in: range, what)
  }

  /// `4G`, in powers of 1024.
  func bytes(_ key: String) -> Int? {
    quantity(key, ["M": 1 << 20, "G": 1 << 30, "T": 1 << 40], in: 1 << 20...1 << 50, "1M to 1024T, such as 4G")
  }
}
