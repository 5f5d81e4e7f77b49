/// Tokens that services give out, which are known by their form wherever they stand.
enum ServiceToken {
  /// GitHub, GitLab, Slack, Stripe, OpenAI, Hugging Face, npm, Google, DigitalOcean, Shopify, AWS; a JSON Web Token (RFC 7519).
  private static let prefixes = [
    "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "xoxa-", "xoxb-", "xoxe-", "xoxp-",
    "xoxr-", "xoxs-",
    "sk_live_", "sk_test_", "pk_live_", "pk_test_", "rk_live_", "whsec_", "sk-", "hf_", "npm_", "pypi-", "AIza",
    "ya29.",
    "dop_v1_", "shpat_", "AKIA", "ASIA", "eyJ",
  ]
  /// Behind a prefix.
  private static let shortest = 10
  /// Letters and digits without a prefix: a word or a serial number has fewer in one piece.
  private static let shortestRandom = 20
  private static let shortestHexadecimal = 32

  /// - Parameter text: what stands between signs other than `-`, `_` and `.`.
  static func isToken(_ text: Substring) -> Bool {
    guard text.utf8.count >= shortest else { return false }
    if prefixes.contains(where: { text.hasPrefix($0) && text.utf8.count >= $0.utf8.count + shortest }) { return true }
    return text.split { $0 == "-" || $0 == "_" || $0 == "." }.contains { isRandom($0) }
  }

  private static func isRandom(_ text: Substring) -> Bool {
    let bytes = text.utf8
    guard bytes.count >= shortestRandom else { return false }
    if bytes.count >= shortestHexadecimal, text.allSatisfy(\.isHexDigit) { return true }
    return text.contains(where: \.isUppercase) && text.contains(where: \.isLowercase)
      && text.filter(\.isNumber).count > 2
  }
}
