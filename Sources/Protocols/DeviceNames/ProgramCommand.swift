internal import Wire

/// A program and its arguments on one line. No shell reads it: spaces separate words, single or double quotes keep them
/// together, and nothing else has a meaning.
public struct ProgramCommand: CustomStringConvertible, Hashable, Sendable {
  /// For people: as written, or, with what looks like a credential hidden, its words.
  public let description: String
  /// The program first; a name without a slash is looked up in PATH. With credentials: not to be shown.
  public let words: [String]
  /// For everything that the program says.
  public let mask: CredentialMask

  private static let maximumBytes = 4096

  /// Nil if it names no program, has an open quote, or is not printable.
  public init?(_ text: String) {
    guard text.utf8.count <= Self.maximumBytes, text.unicodeScalars.allSatisfy(\.isPrintable),
      let words = Self.split(text), words.first?.isEmpty == false
    else { return nil }
    self.words = words
    mask = CredentialMask(words)
    description = mask.words == words ? text : Self.joined(mask.words)
  }

  /// Quotes stand where they are needed.
  static func joined(_ words: [String]) -> String {
    words.map { $0.contains(" ") || $0.isEmpty ? "'\($0)'" : $0 }.joined(separator: " ")
  }

  /// Nil if a quote is open.
  static func split(_ text: String) -> [String]? {
    var words: [String] = []
    var word: String?
    var quote: Character?
    for character in text {
      if let open = quote {
        if character == open { quote = nil } else { word?.append(character) }
      } else if character == "\"" || character == "'" {
        quote = character
        word = word ?? ""
      } else if character == " " {
        if let word { words.append(word) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    guard quote == nil else { return nil }
    if let word { words.append(word) }
    return words
  }
}
