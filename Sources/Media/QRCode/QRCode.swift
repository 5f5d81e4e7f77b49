internal import CQREncode

/// A QR code (ISO/IEC 18004), with the lowest level of error correction: screens are clean.
public struct QRCode: Hashable, Sendable {
  /// Modules on each side, without the quiet zone.
  public let width: Int
  private let modules: [Bool]

  /// Nil when the text is too long: over 2,953 bytes of UTF-8.
  public init?(_ text: String) {
    guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_L) else { return nil }
    defer { QRcode_free(code) }
    guard let data = code.pointee.data else { return nil }
    width = Int(code.pointee.width)
    modules = (0..<width * width).map { data[$0] & 1 == 1 }
  }

  /// False outside.
  public func isDark(row: Int, column: Int) -> Bool {
    (0..<width).contains(row) && (0..<width).contains(column) && modules[row * width + column]
  }

  /// `1` for a dark module, `0` for a light one; one string for each row.
  public var rows: [String] {
    (0..<width).map { row in
      String((0..<width).map { isDark(row: row, column: $0) ? "1" : "0" as Character })
    }
  }

  /// Light modules around the code. The standard asks for four; readers manage with two.
  private static let quietZone = 2

  /// Lines for a terminal, two modules to a character, light on dark whatever the terminal's colours are.
  public var terminalText: String {
    let range = -Self.quietZone..<width + Self.quietZone
    return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { row in
      let line = range.map { column in
        switch (isDark(row: row, column: column), isDark(row: row + 1, column: column)) {
        case (true, true): " "
        case (true, false): "▄"
        case (false, true): "▀"
        case (false, false): "█"
        }
      }.joined()
      // White on black.
      return "\u{1b}[40;97m\(line)\u{1b}[0m"
    }.joined(separator: "\n")
  }
}
