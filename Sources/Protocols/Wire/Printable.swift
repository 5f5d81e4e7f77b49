extension Unicode.Scalar {
  /// Not a control, format, surrogate, private-use or unassigned code point, and not a line break: safe to print on a
  /// terminal. The zero-width joiner and non-joiner count as printable: the one joins the parts of many emoji, and Persian
  /// and scripts of India are written with both.
  public var isPrintable: Bool {
    if isJoiner { return true }
    return switch properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }

  /// The zero-width joiner or non-joiner, which nobody sees. Unicode, section 23.2.
  public var isJoiner: Bool { self == "\u{200d}" || self == "\u{200c}" }

  /// Takes no place of its own: it is drawn over the character before it, or is not drawn.
  fileprivate var isMark: Bool {
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark: true
    default: isJoiner
    }
  }
}

extension Sequence<Unicode.Scalar> {
  /// What is safe to show of a text that somebody else has chosen: its printable scalars, and after each character at most
  /// four marks. More of them, one upon the other, cover the lines around them; no script needs more (Hebrew with vowels
  /// and cantillation has four).
  public var printableScalars: String.UnicodeScalarView {
    var kept = String.UnicodeScalarView()
    var marks = 0
    for scalar in self where scalar.isPrintable {
      marks = scalar.isMark ? marks + 1 : 0
      if marks <= 4 { kept.append(scalar) }
    }
    return kept
  }
}

extension String {
  /// What somebody who is not trusted has said, for a terminal or a log: one line of printable characters, at most
  /// `maximum` scalars.
  public func printable(maximum: Int = 200) -> String {
    let spaced = unicodeScalars.lazy.map { $0.properties.isWhitespace ? " " : $0 }
    return String(String.UnicodeScalarView(spaced.printableScalars.prefix(maximum)))
  }
}
