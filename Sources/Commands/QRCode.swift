internal import CQREncode

/// A QR code (ISO/IEC 18004) drawn with characters.
public enum QRCode {
  /// Light modules around the code. The standard asks for four; readers manage with two.
  private static let quietZone = 2

  /// `text` as lines for a terminal, two modules to a character, light on dark whatever the terminal's colours are. Nil
  /// when the text is too long for a QR code.
  public static func terminalText(_ text: String) -> String? {
    guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_L) else { return nil }
    defer { QRcode_free(code) }
    guard let data = code.pointee.data else { return nil }
    let width = Int(code.pointee.width)
    func isDark(_ row: Int, _ column: Int) -> Bool {
      (0..<width).contains(row) && (0..<width).contains(column) && data[row * width + column] & 1 == 1
    }
    let range = -quietZone..<width + quietZone
    return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { row in
      let line = range.map { column in
        switch (isDark(row, column), isDark(row + 1, column)) {
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
