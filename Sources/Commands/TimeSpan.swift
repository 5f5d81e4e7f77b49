internal import ArgumentParser

/// A length of time as a person types it: `45s`, `10m`, `8h`, `2d`, `1h30m`. Without a unit only `0` is one: `--for 8` may be
/// meant as hours. A negative one is read, so that whoever takes it can say what the range is.
public struct TimeSpan: Hashable, Sendable, LosslessStringConvertible {
  public let seconds: Int

  /// For an option: throws `ValidationError` with the units.
  @Sendable public static func argument(_ text: String) throws -> TimeSpan {
    guard let span = TimeSpan(text) else {
      throw ValidationError("A length of time has a unit: 45s, 10m, 8h, 2d or 1h30m.")
    }
    return span
  }

  private static let units: [(letter: Character, seconds: Int)] = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)]

  public init?(_ text: String) {
    guard !text.isEmpty, text.utf8.count <= 32 else { return nil }
    let isNegative = text.first == "-"
    var total = 0
    var digits = ""
    // Each unit once, the large ones first.
    var left = Self.units[...]
    for character in text.dropFirst(isNegative ? 1 : 0) {
      if character.isASCII, character.isNumber {
        digits.append(character)
        continue
      }
      guard let index = left.firstIndex(where: { $0.letter == character }), let number = Int(digits),
        let sum = Self.sum(total, number, left[index].seconds)
      else { return nil }
      total = sum
      digits = ""
      left = left[(index + 1)...]
    }
    // `1h30` could be minutes or seconds.
    guard digits.isEmpty || text == "0" else { return nil }
    guard !isNegative || text.count > 1 else { return nil }
    seconds = isNegative ? -total : total
  }

  private static func sum(_ total: Int, _ number: Int, _ unit: Int) -> Int? {
    let (product, isTooLarge) = number.multipliedReportingOverflow(by: unit)
    let (sum, isTooMuch) = total.addingReportingOverflow(product)
    return isTooLarge || isTooMuch ? nil : sum
  }

  public var description: String { "\(seconds)s" }
}
