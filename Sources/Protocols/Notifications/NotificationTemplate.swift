internal import JSON
internal import Wire

/// The body of a notifier's request: text in which `{kind}`, `{text}` and so on stand for an event's fields.
public struct NotificationTemplate: Hashable, Sendable {
  /// What can stand in braces.
  public enum Field: String, CaseIterable, Sendable {
    case kind, level, name, id, detail, time, child
    /// The child's name and a sentence.
    case text
  }

  /// How values become part of the body.
  public enum Escaping: Hashable, Sendable {
    case none
    /// Inside a JSON string. RFC 8259 section 7.
    case json
    /// application/x-www-form-urlencoded: percent-encoded, RFC 3986 section 2.1.
    case form

    /// By the value of `Content-Type`.
    public init(contentType: String) {
      let type = contentType.prefix { $0 != ";" && $0 != " " }.lowercased()
      self =
        switch type {
        case "application/json": .json
        case "application/x-www-form-urlencoded": .form
        default: type.hasSuffix("+json") ? .json : .none
        }
    }
  }

  /// A word in braces that is no field.
  public struct UnknownField: Error, Hashable, Sendable {
    public var name: String
  }

  private enum Part: Hashable {
    case text(String)
    case field(Field)
  }

  private var parts: [Part] = []
  /// The `Content-Type` of a body for which none is given.
  public var contentType: String {
    if case .text(let text)? = parts.first, let first = text.first(where: { !$0.isWhitespace }),
      first == "{" || first == "["
    {
      return "application/json"
    }
    return "text/plain; charset=utf-8"
  }

  /// Braces around anything but a lower-case word stand for themselves, as JSON needs them.
  public init(_ text: String) throws(UnknownField) {
    var literal = ""
    var rest = text[...]
    while let brace = rest.firstIndex(of: "{") {
      literal += rest[..<brace]
      let inside = rest[rest.index(after: brace)...]
      let word = inside.prefix { ("a"..."z").contains($0) }
      guard !word.isEmpty, word.endIndex < rest.endIndex, rest[word.endIndex] == "}" else {
        literal += "{"
        rest = inside
        continue
      }
      guard let field = Field(rawValue: String(word)) else { throw UnknownField(name: String(word)) }
      if !literal.isEmpty { parts.append(.text(literal)) }
      literal = ""
      parts.append(.field(field))
      rest = rest[rest.index(after: word.endIndex)...]
    }
    literal += rest
    if !literal.isEmpty { parts.append(.text(literal)) }
  }

  /// A JSON object with every field.
  public static let standard: NotificationTemplate = {
    let members = Field.allCases.map { "\"\($0.rawValue)\":\"{\($0.rawValue)}\"" }
    guard let template = try? NotificationTemplate("{" + members.joined(separator: ",") + "}") else {
      preconditionFailure("every field is known")
    }
    return template
  }()

  /// - Parameters:
  ///   - child: the child's name.
  ///   - date: the notification's time for people, RFC 3339.
  /// - Returns: UTF-8.
  public func body(for notification: Notification, child: String, date: String, escaping: Escaping) -> [UInt8] {
    var result = ""
    for part in parts {
      switch part {
      case .text(let text): result += text
      case .field(let field):
        result += Self.escaped(Self.value(of: field, notification, child, date), escaping)
      }
    }
    return Array(result.utf8)
  }

  private static func value(
    of field: Field, _ notification: Notification, _ child: String, _ date: String
  ) -> String {
    switch field {
    case .kind: notification.kind
    case .level: notification.level
    case .name: notification.name ?? ""
    case .id: notification.id ?? ""
    case .detail: notification.detail ?? ""
    case .time: date
    case .child: child
    case .text: "\(child): \(notification.sentence)"
    }
  }

  private static func escaped(_ value: String, _ escaping: Escaping) -> String {
    switch escaping {
    case .none: value
    case .json: String(JSON.quoted(value).dropFirst().dropLast())
    case .form: value.utf8.reduce(into: "") { $0 += formEncoded($1) }
    }
  }

  private static func formEncoded(_ byte: UInt8) -> String {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
      String(Unicode.Scalar(byte))
    default: "%" + [byte].hexadecimal(uppercase: true)
    }
  }
}
