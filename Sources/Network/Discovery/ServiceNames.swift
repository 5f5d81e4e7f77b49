internal import Wire

/// Validates names for and from the network. RFC 6763 section 4.1.1: one label, UTF-8.
enum ServiceNames {
  /// RFC 1035 section 2.3.4.
  static let maximumLabelBytes = 63
  static let maximumHostBytes = 255

  /// A name fit for registration: cut at a character boundary, never empty.
  static func fitting(_ name: String) -> String {
    var result = ""
    for character in name where isPrintable(character.unicodeScalars) {
      guard result.utf8.count + character.utf8.count <= maximumLabelBytes else { break }
      result.append(character)
    }
    return result.isEmpty ? "Cradle" : result
  }

  /// Whether a name from the network can be printed unchanged.
  static func isInstance(_ name: String) -> Bool {
    (1...maximumLabelBytes).contains(name.utf8.count) && isPrintable(name.unicodeScalars)
  }

  /// A host name without its trailing dot; nil if it cannot be printed.
  static func host(_ name: String) -> String? {
    let name = name.hasSuffix(".") ? String(name.dropLast()) : name
    return (1...maximumHostBytes).contains(name.utf8.count) && isPrintable(name.unicodeScalars) ? name : nil
  }

  /// Nothing in it could manipulate a terminal, and nothing of it was lost in decoding.
  private static func isPrintable(_ scalars: String.UnicodeScalarView) -> Bool {
    scalars.allSatisfy { $0.isPrintable && $0 != "\u{fffd}" }
  }
}
