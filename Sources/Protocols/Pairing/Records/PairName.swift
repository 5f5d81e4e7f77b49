internal import Wire

/// Cleans device names chosen by people and received from peers.
public enum PairName {
  /// Maximum length of a name: in characters, and in UTF-8 bytes for characters with many code points.
  public static let maximumCharacters = 64
  public static let maximumBytes = 256

  /// The name on one line: without control, format and unassigned code points, with white space collapsed to single
  /// spaces, cut to the limits. `fallback` if nothing is left. Idempotent.
  public static func cleaned(_ name: String, fallback: String) -> String {
    var result = ""
    var bytes = 0
    // By scalar: a removed one may separate a space from an accent, which then would form one character.
    for word in name.unicodeScalars.split(whereSeparator: \.properties.isWhitespace) {
      let printable = String(word.printableScalars)
      if printable.isEmpty { continue }
      for character in result.isEmpty ? printable : " " + printable {
        bytes += character.utf8.count
        guard bytes <= maximumBytes, result.count < maximumCharacters else { return result.trimmed ?? fallback }
        result.append(character)
      }
    }
    return result.trimmed ?? fallback
  }

  /// `name`, or, where one of `others` is the same but for case, `name #2`, `name #3` and so on: as Avahi numbers what is
  /// announced.
  public static func numbered(_ name: String, among others: [String]) -> String {
    let taken = Set(others.map { $0.lowercased() })
    guard taken.contains(name.lowercased()) else { return name }
    var number = 2
    while true {
      let suffix = " #\(number)"
      let room = (maximumCharacters - suffix.count, maximumBytes - suffix.utf8.count)
      var base = String(name.prefix(room.0))
      while base.utf8.count > room.1 { base.removeLast() }
      if !taken.contains((base + suffix).lowercased()) { return base + suffix }
      number += 1
    }
  }
}

extension String {
  /// Without a trailing space left by the cut; nil if nothing is left.
  fileprivate var trimmed: String? {
    let text = last == " " ? String(dropLast()) : self
    return text.isEmpty || text.unicodeScalars.allSatisfy(\.isJoiner) ? nil : text
  }
}
