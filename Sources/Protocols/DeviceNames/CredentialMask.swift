/// Hides what looks like a credential wherever the words of a command, or what its program says, are shown: on the card, in
/// events and notifications, in `status` and in the log.
///
/// It knows userinfo of URLs (RFC 3986 section 3.2.1), `KEY=VALUE` and `KEY: VALUE` whose key speaks of a password, a token, a
/// key and the like, options of such a name with the next word, `USER:PASSWORD` after `-u`, and what stands behind `Bearer`. What it has found in the
/// command it finds again in what the program says. A password that is just a word cannot be told from any other.
public struct CredentialMask: Hashable, Sendable {
  /// What is shown instead.
  public static let mark = "***"

  /// The words of the command, masked.
  public private(set) var words: [String] = []
  private var secrets: [String] = []
  /// Shorter ones would be found in words that have nothing to do with them.
  private static let shortestSecret = 4

  /// - Parameter words: the program and its arguments.
  public init(_ words: [String] = []) {
    var option: Substring?
    for word in words {
      var masked = MaskedText()
      if let option, Self.isSecret(key: option), !word.isEmpty {
        masked.hide(word)
      } else if let option, Self.namesUser(option), let colon = word.firstIndex(of: ":"), !word.contains("://") {
        masked.show(word[...colon])
        masked.hide(word[word.index(after: colon)...])
      } else {
        masked.read(word, isWord: true)
      }
      self.words.append(masked.text)
      secrets += masked.secrets
      option = word.hasPrefix("-") && !word.contains("=") ? word.drop { $0 == "-" } : nil
    }
    // As the program may have decoded it. The longest first: one may be part of another.
    secrets = Set(secrets + secrets.compactMap(Self.percentDecoded)).filter { $0.count >= Self.shortestSecret }
      .sorted { ($1.count, $0) < ($0.count, $1) }
    // One word may repeat what another, or a part of itself, gives away.
    self.words = self.words.map { withoutSecrets($0) }
  }

  /// One or several lines for people, without credentials.
  public func masked(_ text: String) -> String {
    var masked = MaskedText()
    masked.read(withoutSecrets(text), isWord: false)
    return masked.text
  }

  private func withoutSecrets(_ text: String) -> String {
    secrets.reduce(text) { text, secret in text.replacing(secret, with: Self.mark) }
  }

  // MARK: - What is a secret

  private static let telling = [
    "password", "passwd", "passwort", "passphrase", "passcode", "pwd", "token", "secret", "credential", "authorization",
    "cookie", "signature",
  ]
  private static let tellingAlone: Set<Substring> = ["pass", "pw", "pin", "auth", "sig", "jwt", "psk", "bearer"]

  /// Whether credentials follow a key without `=` or `:`: `Bearer abcdef` (RFC 6750 section 2.1).
  static func isScheme(_ key: some StringProtocol) -> Bool { key.lowercased() == "bearer" }

  /// What a sentence about it goes on with.
  static let ordinaryAfterScheme: Set<String> = [
    "token", "tokens", "authentication", "authorization", "scheme", "required", "missing", "expired", "invalid",
    "rejected",
    "refused", "failed", "realm", "header", "credentials",
  ]

  /// Whether the value of `api_key`, `user-pw` or `X-Auth-Token` is to be hidden.
  static func isSecret(key: some StringProtocol) -> Bool {
    let key = key.lowercased()
    if telling.contains(where: { key.contains($0) }) || key.hasSuffix("key") { return true }
    return key.split { $0 == "-" || $0 == "_" || $0 == "." }.contains { tellingAlone.contains($0) }
  }

  /// curl's `-u`, `--user` and the like, followed by `USER:PASSWORD`.
  private static func namesUser(_ option: Substring) -> Bool {
    option == "u" || option.lowercased().hasSuffix("user") || option.lowercased().hasSuffix("userpwd")
  }

  /// RFC 3986 section 2.1; nil if there is nothing to decode.
  private static func percentDecoded(_ text: String) -> String? {
    guard text.contains("%") else { return nil }
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
