internal import Wire

/// A length of time as a person types it: `90`, `45s`, `10m`, `8h`, `2d`, `1h30m`. Without a unit: seconds.
public struct TimeSpan: Hashable, Sendable, LosslessStringConvertible {
  public let seconds: Int

  private static let units: [(letter: Character, seconds: Int)] = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)]

  public init?(_ text: String) {
    guard !text.isEmpty, text.utf8.count <= 32 else { return nil }
    var total = 0
    var digits = ""
    // Each unit at most once, the largest first.
    var left = Self.units[...]
    for character in text {
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
    if !digits.isEmpty {
      // `1h30` is refused: it could mean minutes or seconds.
      guard total == 0, left.count == Self.units.count, let number = Int(digits), let sum = Self.sum(0, number, 1)
      else { return nil }
      total = sum
    }
    seconds = total
  }

  private static func sum(_ total: Int, _ number: Int, _ unit: Int) -> Int? {
    let (product, isTooLarge) = number.multipliedReportingOverflow(by: unit)
    let (sum, isTooMuch) = total.addingReportingOverflow(product)
    return isTooLarge || isTooMuch ? nil : sum
  }

  public var description: String { "\(seconds)s" }

  /// `0:42`, `9:58`, `1:02:03`.
  public static func clock(_ seconds: Int) -> String {
    let two = { (value: Int) in value < 10 ? "0\(value)" : "\(value)" }
    let seconds = max(0, seconds)
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    return hours > 0 ? "\(hours):\(two(minutes)):\(two(seconds % 60))" : "\(minutes):\(two(seconds % 60))"
  }

  /// The same for a number that a child sent, which may be any.
  public static func clock(_ seconds: Double) -> String { clock(Int(saturating: seconds)) }
}
