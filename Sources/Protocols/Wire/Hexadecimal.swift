extension Sequence<UInt8> {
  /// Two hexadecimal digits for each byte.
  public func hexadecimal(uppercase: Bool = false, separator: String = "") -> String {
    map { String($0 >> 4, radix: 16, uppercase: uppercase) + String($0 & 15, radix: 16, uppercase: uppercase) }
      .joined(separator: separator)
  }
}

extension [UInt8] {
  /// Reads pairs of hexadecimal digits; nil for any other text.
  public init?(hexadecimal text: String) {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
    self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
