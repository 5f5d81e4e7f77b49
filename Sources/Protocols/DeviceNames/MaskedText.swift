/// A text that is read once, and shown without what looks like a credential.
struct MaskedText {
  private(set) var text = ""
  /// What was hidden.
  private(set) var secrets: [String] = []

  mutating func show(_ part: some StringProtocol) {
    text += part
  }

  mutating func hide(_ part: some StringProtocol) {
    guard !part.isEmpty else { return }
    secrets.append(String(part))
    text += CredentialMask.mark
  }

  /// - Parameter isWord: it is one argument of a command: a value that is not in a URL ends with it.
  mutating func read(_ whole: some StringProtocol, isWord: Bool) {
    var rest = Substring(whole)
    var isInURL = false
    while let first = rest.first {
      if rest.hasPrefix("//") {
        isInURL = true
        show(rest.prefix(2))
        rest = rest.dropFirst(2)
        rest = readUserinfo(rest)
      } else if first.isKeyPart {
        let key = rest.prefix { $0.isKeyPart }
        show(key)
        rest = rest.dropFirst(key.count)
        if CredentialMask.isScheme(key) {
          rest = readCredentials(rest)
        } else if CredentialMask.isSecret(key: key) {
          rest = readValue(rest, toItsEnd: isWord && !isInURL)
        }
      } else {
        if first.isWhitespace { isInURL = false }
        text.append(first)
        rest = rest.dropFirst()
      }
    }
  }

  /// After `//`. A password may hold any sign, written as it is by people who do not know better: everything up to the last
  /// `@` is taken for userinfo, unless that stands in a path behind a host without a port.
  private mutating func readUserinfo(_ rest: Substring) -> Substring {
    let run = rest.prefix { !$0.isWhitespace && !$0.isQuote && $0 != "<" && $0 != ">" }
    guard let at = run.lastIndex(of: "@") else { return rest }
    let info = run[..<at]
    let authority = run.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard authority.contains("@") || info.contains(":") else { return rest }
    if let colon = info.firstIndex(of: ":") { secrets.append(String(info[info.index(after: colon)...])) }
    hide(info)
    return rest[at...]
  }

  /// After a scheme of HTTP's authorization, without the header's name before it: one token (RFC 9110 section 11.4), that looks
  /// like more than a word of a sentence.
  private mutating func readCredentials(_ rest: Substring) -> Substring {
    let token = rest.drop { $0 == " " }
    let secret = token.prefix { $0.isToken68 }
    guard token.startIndex > rest.startIndex, secret.count >= 6 else {
      return readValue(rest, toItsEnd: false)
    }
    guard !CredentialMask.ordinaryAfterScheme.contains(secret.lowercased()) else { return rest }
    show(rest[..<token.startIndex])
    hide(secret)
    return token[secret.endIndex...]
  }

  /// After a telling key: `=VALUE`, `: VALUE`, `": "VALUE"`.
  private mutating func readValue(_ rest: Substring, toItsEnd: Bool) -> Substring {
    var value = rest
    if value.first?.isQuote == true { value = value.dropFirst() }
    value = value.drop { $0 == " " }
    guard let sign = value.first, sign == "=" || sign == ":", !value.hasPrefix("://") else { return rest }
    value = value.dropFirst().drop { $0 == " " }
    var quote: Character?
    if let first = value.first, first.isQuote {
      quote = first
      value = value.dropFirst()
    }
    show(rest[..<value.startIndex])
    let end: Substring.Index
    if let quote {
      end = value.firstIndex { $0 == quote || $0.isNewline } ?? value.endIndex
    } else if sign == ":" {
      // A header: `Basic dXNlcjpwYXNz`.
      end = value.firstIndex { $0.isNewline || $0.isQuote } ?? value.endIndex
    } else if toItsEnd {
      end = value.endIndex
    } else {
      end = value.firstIndex { $0.isWhitespace || $0.isQuote || $0 == "&" || $0 == "#" } ?? value.endIndex
    }
    let secret = value[..<end]
    // The scheme of a header is none.
    if sign == ":", let last = secret.split(separator: " ").last { secrets.append(String(last)) }
    hide(secret)
    return value[end...]
  }
}

extension Character {
  /// RFC 9110 section 11.2.
  fileprivate var isToken68: Bool { isASCII && (isLetter || isNumber || "-._~+/=".contains(self)) }
  fileprivate var isQuote: Bool { self == "\"" || self == "'" || self == "`" }
  /// Of a query's key, an option, a header, a variable.
  fileprivate var isKeyPart: Bool { isLetter || isNumber || self == "_" || self == "-" || self == "." }
}
