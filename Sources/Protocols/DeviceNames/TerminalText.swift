internal import Wire

/// What a program writes to a terminal: colours, titles, links and overprinted letters among the text. ECMA-48, section 5.
enum TerminalText {
  /// The text that people see: without control sequences and signs that take no place, in its lines.
  static func plain(_ text: String) -> String {
    guard !text.unicodeScalars.allSatisfy({ $0.isASCII && $0.isPrintable || $0 == "\n" }) else { return text }
    var plain = String.UnicodeScalarView()
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\u{1b}": skipSequence(&rest)
      case "\u{9b}": skipParameters(&rest)
      case "\u{90}", "\u{98}", "\u{9d}", "\u{9e}", "\u{9f}": skipString(&rest)
      // A letter over another one: bold or underlined.
      case "\u{8}": if plain.last != "\n" { _ = plain.popLast() }
      default: if scalar.isPrintable && !scalar.isJoiner || scalar.properties.isWhitespace { plain.append(scalar) }
      }
    }
    return String(plain)
  }

  /// After ESC.
  private static func skipSequence(_ rest: inout Substring.UnicodeScalarView) {
    switch rest.first {
    case "[":
      rest.removeFirst()
      skipParameters(&rest)
    case "]", "P", "X", "^", "_":
      rest.removeFirst()
      skipString(&rest)
    default:
      while let next = rest.first, (" "..."/").contains(next) { rest.removeFirst() }
      if let next = rest.first, ("0"..."~").contains(next) { rest.removeFirst() }
    }
  }

  /// Parameters, and the letter that says what they are for.
  private static func skipParameters(_ rest: inout Substring.UnicodeScalarView) {
    while let next = rest.first, (" "..."?").contains(next) { rest.removeFirst() }
    if let next = rest.first, ("@"..."~").contains(next) { rest.removeFirst() }
  }

  /// A title or a link, up to BEL or ST. One without an end hides no line but its own.
  private static func skipString(_ rest: inout Substring.UnicodeScalarView) {
    while let next = rest.first, next != "\n" {
      rest.removeFirst()
      if next == "\u{7}" || next == "\u{9c}" { return }
      if next == "\u{1b}", rest.first == "\\" {
        rest.removeFirst()
        return
      }
    }
  }
}
