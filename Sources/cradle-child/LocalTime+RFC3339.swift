import FoundationEssentials
import Linux

extension LocalTime {
  /// A time of the daemon, in RFC 3339, as people read it; one that is none stays as it is.
  static func text(rfc3339 text: String) -> String {
    guard let date = try? Date(text, strategy: .iso8601) else { return text }
    return Self.text(unixSeconds: date.timeIntervalSince1970)
  }

  /// The same; nil is `never`.
  static func text(rfc3339 text: String?) -> String {
    text.map { Self.text(rfc3339: $0) } ?? "never"
  }
}
