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
}

extension String {
  /// What somebody who is not trusted has said, for a terminal or a log: one line of printable characters, at most
  /// `maximum` scalars.
  public func printable(maximum: Int = 200) -> String {
    let kept = unicodeScalars.lazy.map { $0.properties.isWhitespace ? " " : $0 }.filter(\.isPrintable).prefix(maximum)
    return String(String.UnicodeScalarView(kept))
  }
}
