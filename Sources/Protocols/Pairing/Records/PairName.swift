/// Names that people gave to their devices, and that arrive from others.
public enum PairName {
  /// What a name is cut to. In characters, and in UTF-8 for those that consist of many code points.
  public static let maximumCharacters = 64
  public static let maximumBytes = 256

  /// The name on one line: without control, format and unassigned code points, white space joined to single spaces, cut
  /// to the bounds. `fallback` when nothing is left. A cleaned name stays as it is when it is cleaned again.
  public static func cleaned(_ name: String, fallback: String) -> String {
    var result = ""
    var bytes = 0
    // By scalar: what is taken out may stand between a space and an accent, which then look like one character.
    for word in name.unicodeScalars.split(whereSeparator: \.properties.isWhitespace) {
      let printable = String(String.UnicodeScalarView(word.filter(isPrintable)))
      if printable.isEmpty { continue }
      for character in result.isEmpty ? printable : " " + printable {
        bytes += character.utf8.count
        guard bytes <= maximumBytes, result.count < maximumCharacters else { return result.trimmed ?? fallback }
        result.append(character)
      }
    }
    return result.trimmed ?? fallback
  }

  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    // Joins the parts of many emoji.
    if scalar == "\u{200d}" { return true }
    return switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
}

extension String {
  /// Without the space that a cut may have left at the end; nil when nothing is left.
  fileprivate var trimmed: String? {
    let text = last == " " ? String(dropLast()) : self
    return text.isEmpty || text.unicodeScalars.allSatisfy { $0 == "\u{200d}" } ? nil : text
  }
}
