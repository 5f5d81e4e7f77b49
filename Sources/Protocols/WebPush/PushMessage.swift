public import Control
internal import JSON
public import Notifications

/// What a browser's service worker receives.
public struct PushMessage: Hashable, Sendable {
  /// JSON, at most `MessageEncryption.maximumContentBytes`: `{kind, level, time, child, text, id?, name?, detail?}`.
  public let content: [UInt8]

  /// All messages are padded to a multiple of this, so that their size does not tell what they say.
  static let block = 1024
  private static let textLength = 200

  /// - Parameter child: the child's name.
  public init(_ notification: Notification, child: String) {
    func short(_ text: String?) -> JSON? { text.map { .string(Self.short($0)) } }
    let time = notification.time
    let members: [String: JSON?] = [
      "kind": short(notification.kind), "level": short(notification.level),
      "time": .number(time.isFinite ? time.rounded() : 0), "child": short(child),
      "text": short(notification.sentence), "id": short(notification.id), "name": short(notification.name),
      "detail": short(notification.detail),
    ]
    content = Array(JSON.object(members.compactMapValues(\.self)).text.utf8)
  }

  /// Zeros behind the content.
  public var padding: Int {
    let whole = (content.count / Self.block + 1) * Self.block
    return min(whole, MessageEncryption.maximumContentBytes) - content.count
  }

  /// What was read from a file can be of any length. At most 460 bytes.
  private static func short(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    var bytes = 0
    for scalar in text.unicodeScalars.prefix(textLength) {
      // As `JSON.quoted` writes it.
      switch scalar {
      case "\"", "\\": bytes += 2
      case "\0"..."\u{1f}", "\u{7f}": bytes += 6
      default: bytes += scalar.utf8.count
      }
      if bytes > 450 { break }
      result.append(scalar)
    }
    return String(result)
  }
}

extension NotificationFilter {
  /// What is pushed unless a browser asks for other kinds: the child is not seen, not heard, or by nobody.
  public static let pushed = NotificationFilter(
    kinds: Set(EventKind.allCases.filter { $0.level == .alarm } + [.unheard]), level: .notice)

  /// - Parameter kinds: those that a browser has asked for; nil: the usual ones.
  public static func pushed(_ kinds: Set<EventKind>?) -> NotificationFilter {
    kinds.map { NotificationFilter(kinds: $0, level: .notice) } ?? .pushed
  }
}
