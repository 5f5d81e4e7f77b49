import FoundationEssentials
import Linux

extension LocalTime {
  /// As people read it; nil is `never`.
  static func text(_ date: Date?) -> String {
    date.map { text(unixSeconds: $0.timeIntervalSince1970) } ?? "never"
  }
}
