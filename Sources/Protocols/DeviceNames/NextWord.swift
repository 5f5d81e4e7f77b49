/// What the word of a command before another one says about it.
enum NextWord {
  case ordinary
  /// A credential, whatever it is: after `--password`.
  case secret
  /// A credential unless it is an option: after `-p`, which takes a value or none.
  case secretOrOption
  /// The value of a header, which may begin with the name of a scheme: after `Authorization:`.
  case header
  /// curl's `USER:PASSWORD`, smbclient's `USER%PASSWORD`: after `-u`.
  case userAndSecret

  init(after whole: String, _ before: NextWord) {
    // A shell's way to keep the space behind it, which no shell reads here.
    let word = String(whole[..<(whole.lastIndex { $0 != "\\" }.map(whole.index(after:)) ?? whole.startIndex)])
    let name = word.drop { $0 == "-" }
    if case .header = before, CredentialName.isScheme(word) {
      self = .secret
    } else if let sign = name.lastIndex(where: { $0 == ":" || $0 == "=" }),
      CredentialName.isScheme(name[name.index(after: sign)...]), CredentialName.isSecret(name[..<sign])
    {
      // `Authorization:Bearer`.
      self = .secret
    } else if word.last == ":" || word.last == "=" {
      self = CredentialName.isSecret(name.dropLast()) ? .header : .ordinary
    } else if CredentialName.isBearer(word) {
      self = .secret
    } else if name.startIndex == word.startIndex || word.contains("=") || Self.hasItsValue(word) {
      self = .ordinary
    } else if CredentialName.isSecret(name) {
      self = .secret
    } else if name == "p" || name == "P" {
      self = .secretOrOption
    } else {
      self = CredentialName.isUserOption(name) ? .userAndSecret : .ordinary
    }
  }

  /// `-uUSER:PASSWORD`, `-pPASSWORD`.
  private static func hasItsValue(_ word: String) -> Bool {
    guard !word.hasPrefix("--"), let letter = word.dropFirst().first, word.count > 2 else { return false }
    return word.contains(":") || (letter == "p" || letter == "P") && !CredentialName.isLongOptionOfP(word.dropFirst())
  }
}
