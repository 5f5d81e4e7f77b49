/// Eight random digits for one pairing, shown as `1234-5678`.
public struct PairingCode: Hashable, Sendable, LosslessStringConvertible {
  private static let digitCount = 8

  /// The digits only: the password of SPAKE2+.
  let digits: [UInt8]

  static func random(using random: inout any RandomNumberGenerator & Sendable) -> PairingCode {
    PairingCode(digits: (0..<digitCount).map { _ in UInt8.random(in: 0...9, using: &random) + UInt8(ascii: "0") })
  }

  private init(digits: [UInt8]) {
    self.digits = digits
  }

  /// As typed by a person: eight digits; spaces and dashes are ignored.
  public init?(_ text: String) {
    guard text.utf8.count <= 32 else { return nil }
    let digits = text.filter { !$0.isWhitespace && !"-\u{2010}\u{2011}\u{2012}\u{2013}\u{2212}".contains($0) }
    guard digits.utf8.count == Self.digitCount, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    self.digits = Array(digits.utf8)
  }

  public var description: String {
    String(decoding: digits[..<4] + [UInt8(ascii: "-")] + digits[4...], as: UTF8.self)
  }
}
