internal import Wire

/// Hides what looks like a credential wherever the words of a command, or what its program says, are shown: on the card, in
/// events and notifications, in `status` and in the log. There is no other place that does.
///
/// It knows userinfo of URLs (RFC 3986 section 3.2.1), values of keys, headers, elements and options that are named like a credential
/// (`CredentialName`), what follows `-p` and the user's name after `-u`, what stands behind `Bearer`, and what has the form of a
/// service's token (`ServiceToken`), also percent-encoded. What it has found in the command it finds again in what the program says
/// (`RepeatedSecret`). A password that is just a word cannot be distinguished from any other.
public struct CredentialMask: Hashable, Sendable {
  /// What is shown instead.
  public static let mark = "***"

  /// The words of the command, masked.
  public private(set) var words: [String] = []
  /// The longest first: one may be part of another.
  private var secrets: [RepeatedSecret] = []

  /// Commands within a word of a command: `sh -c "sh -c '…'"`.
  private static let deepest = 3

  /// - Parameter words: the program and its arguments.
  public init(_ words: [String] = []) {
    let found = read(words, depth: 0)
    secrets = RepeatedSecret.all(of: found)
    // One word may repeat what another, or a part of itself, gives away.
    self.words = self.words.map { RepeatedSecret.mask(secrets, in: $0) }
  }

  /// One or several lines for people, without credentials and control sequences.
  public func masked(_ text: String) -> String {
    let plain = RepeatedSecret.mask(secrets, in: TerminalText.plain(text))
    var masked = MaskedText()
    masked.read(plain, isWord: false)
    var encoded: [String] = []
    for layer in PercentEncoding.layers(of: plain) {
      var decoded = MaskedText()
      decoded.read(layer, isWord: false)
      encoded += decoded.secrets
    }
    return RepeatedSecret.mask(RepeatedSecret.all(of: encoded), in: masked.text)
  }

  /// A text that may be a command, or the beginning of one: quotes may be open, and words may have anything before them.
  public static func masked(command text: String) -> String {
    CredentialMask(text.split(separator: " ", omittingEmptySubsequences: false).map(String.init))
      .words.joined(separator: " ")
  }

  /// - Returns: what is secret in the words.
  private mutating func read(_ words: [String], depth: Int) -> [String] {
    var next = NextWord.ordinary
    var secrets: [String] = []
    for word in words {
      var masked = MaskedText()
      masked.read(argument: word, as: next)
      secrets += masked.secrets
      for layer in PercentEncoding.layers(of: word) {
        var decoded = MaskedText()
        decoded.read(argument: layer, as: next)
        secrets += decoded.secrets
      }
      next = NextWord(after: word, next)
      var text = masked.text
      if word.contains(where: \.isWhitespace), depth < Self.deepest {
        // What is hidden already stays so.
        secrets += Self.inner(word, depth).secrets
        text = Self.inner(text, depth).text
      }
      self.words.append(text)
    }
    return secrets
  }

  /// A word that is a command itself.
  private static func inner(_ word: String, _ depth: Int) -> (text: String, secrets: [String]) {
    let words = ProgramCommand.split(word) ?? word.split(whereSeparator: \.isWhitespace).map(String.init)
    var mask = CredentialMask()
    let secrets = mask.read(words, depth: depth + 1)
    return (mask.words == words ? word : ProgramCommand.joined(mask.words), secrets)
  }
}
