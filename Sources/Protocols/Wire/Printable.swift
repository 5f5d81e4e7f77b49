extension Unicode.Scalar {
  /// Not a control, format, surrogate, private-use or unassigned code point, and not a line break: safe to print on a
  /// terminal. The zero-width joiner counts as printable, because it joins the parts of many emoji.
  public var isPrintable: Bool {
    if self == "\u{200d}" { return true }
    return switch properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
}
