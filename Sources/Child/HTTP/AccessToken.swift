internal import FoundationEssentials

/// What proves a player's right to watch: the token of an `Authorization` header.
enum AccessToken {
  /// `Bearer TOKEN` (RFC 6750 section 2.1). Players that know nothing but a user and a password in the address send
  /// `Basic` (RFC 7617 section 2): then the token is the password, whoever the user. Nil for anything else.
  static func read(fromAuthorization value: String) -> String? {
    let words = value.split(separator: " ", maxSplits: 1)
    guard words.count == 2 else { return nil }
    switch words[0].lowercased() {
    case "bearer":
      return String(words[1])
    case "basic":
      guard let bytes = Data(base64Encoded: String(words[1])) else { return nil }
      let parts = String(decoding: bytes, as: UTF8.self).split(
        separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      return parts.count == 2 ? String(parts[1]) : nil
    default:
      return nil
    }
  }
}
