internal import FoundationEssentials

/// The bearer token in an `Authorization` header.
enum AccessToken {
  /// Reads `Bearer TOKEN` (RFC 6750 section 2.1). Players that only support a user and password in the URL send `Basic`
  /// (RFC 7617 section 2): the password is the token, the user is ignored. Nil for anything else.
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
