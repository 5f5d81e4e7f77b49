internal import JSON
internal import Wire

/// A server's refusal: problem details (RFC 9457), or what other servers send instead.
public struct WHEPRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  public var status: Int
  /// The kind of problem, in a few words.
  public var title: String
  /// The server's advice, one line without control characters; may be empty.
  public var detail = ""
  /// How long the server asks us to wait. RFC 9110 section 10.2.3.
  public var retryAfter: Duration?

  /// `401 Unauthorized: the token is wrong, expired or revoked`.
  public var description: String { "\(status) \(title)" + (detail.isEmpty ? "" : ": \(detail)") }
}

extension WHEPRefusal {
  /// Longer texts are cut: they are shown to people and logged.
  static let longestText = 300

  /// Of a response that is no success.
  public init(_ response: WHEPResponse) {
    let plain = Problem(response.status, "").title
    self.init(
      status: response.status, title: plain, retryAfter: Self.retryAfter(response.headers.values("Retry-After").first))
    let type = response.headers["Content-Type"]
    let body = response.body.prefix(WHEPConfiguration.maximumBodyBytes)
    if MediaType.matches(type, Problem.contentType) || MediaType.matches(type, "application/json") {
      // Besides RFC 9457's names, those that other servers use.
      let members = (try? JSON(Array(body), maximumBytes: body.count))?.object ?? [:]
      if let title = members["title"]?.string.map(Self.shown), !title.isEmpty { self.title = title }
      detail = ["detail", "error", "message"].lazy.compactMap { members[$0]?.string }.first.map(Self.shown) ?? ""
    } else if type == nil || MediaType.matches(type, "text/plain") {
      detail = Self.shown(String(decoding: body, as: UTF8.self))
    }
  }

  /// A server's text must not control the terminal. Runs of spaces, as from an indented page, are one.
  private static func shown(_ text: String) -> String {
    let words = text.printable(maximum: 4 * longestText).split(separator: " ")
    return String(words.joined(separator: " ").prefix(longestText))
  }

  /// Whole seconds. A date would need the wall clock, and no WHEP server sends one.
  private static func retryAfter(_ text: String?) -> Duration? {
    guard let text, (1...9).contains(text.utf8.count), text.utf8.allSatisfy(\.isDigit) else {
      return nil
    }
    return Int64(text).map { .seconds($0) }
  }
}
