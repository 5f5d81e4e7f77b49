/// The topics of one child at an MQTT broker. interfaces/wire.md, "Meeting places".
public struct MeetingTopics: Hashable, Sendable {
  private let base: String

  /// Where nothing else is configured.
  public static let usualPrefix = "cradle"

  /// - Parameters:
  ///   - prefix: `isPrefix` is true of it.
  ///   - child: the child's id.
  public init(prefix: String, child: String) {
    base = "\(prefix)/\(child)"
  }

  /// The signed presence, retained while the child is there.
  public var presence: String { "\(base)/presence" }
  /// What parents leave for the child.
  public var inbox: String { "\(base)/in" }

  /// What the child says to one client.
  ///
  /// - Parameter client: `isClient` is true of it.
  public func outbox(_ client: String) -> String { "\(base)/out/\(client)" }

  /// Whether `text` can stand before all topics: levels that are not empty, without wildcards; `$` at the beginning is the
  /// broker's own (MQTT 5 section 4.7).
  public static func isPrefix(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count) && !text.hasPrefix("$")
      && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "#") }
      && text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty }
  }

  /// Whether `text` is the name of a client: one level without wildcards, as in rooms.
  public static func isClient(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { $0.isDigit || $0.isLetter || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
  }
}
