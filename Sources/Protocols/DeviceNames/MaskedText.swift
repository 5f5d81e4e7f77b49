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

  /// One argument of a command.
  mutating func read(argument word: String, as kind: NextWord) {
    switch kind {
    case .secret where !word.isEmpty: hide(word)
    case .header where !word.isEmpty && !CredentialName.isScheme(word): hide(word)
    case .secretOrOption where !word.hasPrefix("-") && !word.isEmpty: hide(word)
    case .userAndSecret where readUser(word[...], after: word.startIndex): break
    default:
      if !readShortOption(word) { read(word, isWord: true) }
    }
  }

  /// `-uUSER:PASSWORD` and `-pPASSWORD` (getopt(3): an option of one letter, and its value in the same word).
  private mutating func readShortOption(_ word: String) -> Bool {
    guard word.hasPrefix("-"), !word.hasPrefix("--"), let letter = word.dropFirst().first else { return false }
    let value = word.dropFirst(2)
    let name = word.dropFirst().prefix { $0 != "=" && $0 != ":" }
    if letter == "u" || letter == "U" { return readUser(word[...], after: value.startIndex) }
    guard letter == "p" || letter == "P", !value.isEmpty, !CredentialName.isLongOptionOfP(name) else { return false }
    let secret = value.drop { $0 == "=" }
    show(word[..<secret.startIndex])
    hide(secret)
    return true
  }

  /// `USER:PASSWORD` from an index on. - Returns: false, if it is none; then nothing is shown.
  private mutating func readUser(_ word: Substring, after start: String.Index) -> Bool {
    let pair = word[start...]
    guard let sign = pair.firstIndex(where: { $0 == ":" || $0 == "%" }), !pair.contains("://") else { return false }
    let secret = pair[pair.index(after: sign)...]
    // `-update:v`, `-use_x:a:0`: a stream specifier of ffmpeg's.
    guard secret.firstMatch(of: /^[vasdt](:\d+)?$/) == nil else { return false }
    show(word[..<secret.startIndex])
    hide(secret)
    secrets.append(String(pair))
    return true
  }

  /// - Parameter isWord: it is one argument of a command: a value that is not in a URL ends with it.
  mutating func read(_ whole: some StringProtocol, isWord: Bool) {
    var rest = Substring(whole)
    var isInURL = false
    var isInQuery = false
    while let first = rest.first {
      if rest.hasPrefix("//") {
        isInURL = true
        show(rest.prefix(2))
        rest = rest.dropFirst(2)
        rest = readUserinfo(rest)
      } else if first.isKeyPart {
        let key = rest.prefix { $0.isKeyPart }
        if ServiceToken.isToken(key) {
          hide(key)
          rest = rest.dropFirst(key.count)
          continue
        }
        if !isInURL, !CredentialName.isSecret(key), Self.beginsWithUserinfo(rest) {
          isInURL = true
          rest = readUserinfo(rest)
          continue
        }
        show(key)
        rest = rest.dropFirst(key.count)
        if CredentialName.isBearer(key) {
          rest = readCredentials(rest)
        } else if isInQuery ? CredentialName.isSecretInQuery(key) : CredentialName.isSecret(key) {
          rest = readValue(rest, toItsEnd: isWord && !isInURL && !isInQuery)
        } else if isInQuery, rest.first == "=", CredentialName.isUserInQuery(key) {
          rest = readQueryValue(rest)
        } else if isWord, !isInURL, key.count > 1, rest.first == "=",
          CredentialName.isUserOption(key.drop { $0 == "-" }), readUser(rest, after: rest.dropFirst().startIndex)
        {
          rest = rest[rest.endIndex...]
        }
      } else {
        if first.isWhitespace {
          isInURL = false
          isInQuery = false
        } else if first == "?" {
          isInQuery = true
        }
        text.append(first)
        rest = rest.dropFirst()
      }
    }
  }

  /// Half of a credential, which is not looked for elsewhere: `admin` and `user` are words.
  private mutating func readQueryValue(_ rest: Substring) -> Substring {
    let value = rest.dropFirst().prefix { !$0.isWhitespace && !$0.isQuote && $0 != "&" && $0 != "#" }
    show(rest[..<value.startIndex])
    if !value.isEmpty { show(CredentialMask.mark) }
    return rest[value.endIndex...]
  }

  /// `USER:PASSWORD@HOST` without a scheme and `//` before it, as people write it to programs that add them. Asked at each word, so of a
  /// bounded part.
  private static func beginsWithUserinfo(_ rest: Substring) -> Bool {
    rest.prefix(200).prefix { !$0.isWhitespace && !$0.isQuote }.firstMatch(of: /^[^:@\/=&?]+:[^@\/][^@]*@[\w\[]/) != nil
  }

  /// After `//`. A password may hold any sign, written as it is by people who do not know better: everything up to the last
  /// `@` is taken for userinfo, unless that stands in a path behind a host without a port.
  private mutating func readUserinfo(_ rest: Substring) -> Substring {
    let run = rest.prefix { !$0.isWhitespace && !$0.isQuote && $0 != "<" && $0 != ">" }
    guard let at = run.lastIndex(of: "@") else { return rest }
    let info = run[..<at]
    let authority = run.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard authority.contains("@") || info.contains(":") else { return rest }
    // The last one, too: this may have begun at a URL that has the other in its query.
    for colon in [info.firstIndex(of: ":"), info.lastIndex(of: ":")] {
      if let colon { secrets.append(String(info[info.index(after: colon)...])) }
    }
    if ServiceToken.isToken(info) { secrets.append(String(info)) }
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
    guard !CredentialName.ordinaryAfterBearer.contains(secret.lowercased()) else { return rest }
    show(rest[..<token.startIndex])
    hide(secret)
    return token[secret.endIndex...]
  }

  /// After a telling key: `=VALUE`, `: VALUE`, `": "VALUE"`, `>VALUE<`.
  private mutating func readValue(_ rest: Substring, toItsEnd: Bool) -> Substring {
    if rest.first == ">" {
      let secret = rest.dropFirst().prefix { $0 != "<" && !$0.isNewline }
      show(">")
      hide(secret)
      return rest[secret.endIndex...]
    }
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
    if sign == ":" {
      secrets += secret.split { $0 == " " || $0 == "," || $0 == ";" }.map(String.init)
        .filter { !CredentialName.isScheme($0) }
    }
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
