internal import Control
internal import DeviceNames
public import Notifications
internal import Signaling

extension ChildConfiguration {
  /// An entry of `notify`: where events are sent.
  public struct Notifier: Sendable, Hashable {
    /// 1...32 letters, digits, `-` and `_`; unique.
    public var name: String
    /// May hold a secret: never in a log as a whole.
    public var url: ConfiguredValue
    public var method: Method
    public var headers: [Header]
    public var body: NotificationTemplate
    public var filter: NotificationFilter
    /// A PEM file with CAs in place of the machine's.
    public var authorities: String?
    /// How a picture of the room goes along; nil: none does.
    public var picture: Picture?

    public enum Picture: Sendable, Hashable {
      /// It is the body; the text goes into this header, as ntfy takes it.
      case body(textHeader: String)
      /// It is a file in this field of a multipart/form-data body, beside the fields of `body`, as Pushover takes it.
      case field(String)
    }

    public enum Method: String, CaseIterable, Sendable {
      case post = "POST"
      case put = "PUT"
      case patch = "PATCH"
      case get = "GET"
    }

    public struct Header: Sendable, Hashable {
      public var name: String
      public var value: ConfiguredValue
    }

    /// The `Content-Type` that is sent.
    public var contentType: String {
      for header in headers where header.name.lowercased() == "content-type" {
        if case .text(let type) = header.value { return type }
      }
      return body.contentType
    }

    var isForm: Bool { NotificationTemplate.Escaping(contentType: contentType) == .form }
  }
}

// MARK: - Reading

extension ChildConfiguration {
  static func notifier(_ node: YAMLNode, at index: Int, _ reader: ConfigurationReader) -> Notifier? {
    let keys = ["name", "url", "method", "headers", "body", "events", "level", "ca", "picture"]
    guard let entry = reader.section(node, path: "notify[\(index)]", keys: keys) else { return nil }
    let name = id(entry, key: "name") ?? "notifier-\(index + 1)"
    guard let urlNode = entry.values["url"] else {
      reader.report(entry.node, entry.path("url"), "is missing: https://… or http://…, or {file: PATH}")
      return nil
    }
    guard let url = value(urlNode, entry.path("url"), reader) else { return nil }
    if case .text(let text) = url {
      do throws(HTTPURLError) {
        _ = try HTTPURL(text)
      } catch {
        reader.report(urlNode, entry.path("url"), error.reason)
        return nil
      }
    }
    let kinds = kinds(entry)
    var notifier = Notifier(
      name: name, url: url, method: entry.word("method") ?? .post, headers: headers(entry),
      body: body(entry),
      filter: NotificationFilter(kinds: kinds, level: entry.word("level") ?? (kinds == nil ? .warning : .notice)),
      authorities: entry.text("ca", what: "a PEM file", isAllowed: \.isPlainPath))
    notifier.picture = picture(entry, of: notifier)
    return notifier
  }

  private static func picture(_ entry: ConfigurationSection, of notifier: Notifier) -> Notifier.Picture? {
    guard let node = entry.values["picture"], !node.isNull,
      let section = entry.section("picture", keys: ["header", "field"])
    else { return nil }
    let header = section.text("header", what: "the name of a header, such as Message", isAllowed: isToken)
    let field = section.text("field", what: "the name of a form's field, such as attachment", isAllowed: isToken)
    let problem: String? =
      if notifier.method == .get {
        "needs a method with a body: POST, PUT or PATCH"
      } else if field != nil,
        !notifier.isForm
      {
        "with a field needs a form as body: {Content-Type: application/x-www-form-urlencoded} in headers, and a body such as 'message={text}'"
      } else if (header == nil) == (field == nil) {
        "must be {header: NAME}, with the picture as the body and the text in that header, or {field: NAME} of a form"
      } else if header.map({ ownHeaders.contains($0.lowercased()) || $0.lowercased() == "content-type" }) == true {
        "names a header that is set by the program itself"
      } else { nil }
    if let problem {
      entry.reader.report(node, entry.path("picture"), problem)
      return nil
    }
    return header.map { .body(textHeader: $0) } ?? field.map { .field($0) }
  }

  /// What the HTTP client says by itself.
  private static let ownHeaders = ["host", "content-length", "transfer-encoding", "connection", "user-agent"]

  private static func headers(_ entry: ConfigurationSection) -> [Notifier.Header] {
    guard let node = entry.values["headers"], !node.isNull else { return [] }
    let path = entry.path("headers")
    guard let mapping = node.mapping else {
      entry.reader.report(node, path, "must be names with values, such as {Title: Cradle}, but is \(node.kind)")
      return []
    }
    guard mapping.count <= 16 else {
      entry.reader.report(node, path, "has \(mapping.count) entries; there can be 16")
      return []
    }
    return mapping.compactMap { key, node in
      guard let name = key.scalar?.string, isToken(name) else {
        entry.reader.report(key, path, "the name of a header has letters, digits and -")
        return nil
      }
      guard !ownHeaders.contains(name.lowercased()) else {
        entry.reader.report(key, "\(path).\(name)", "is set by the program itself")
        return nil
      }
      return value(node, "\(path).\(name)", entry.reader).map { Notifier.Header(name: name, value: $0) }
    }
  }

  private static func isToken(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (97...122).contains(byte) || (65...90).contains(byte)
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
      }
  }

  private static func body(_ entry: ConfigurationSection) -> NotificationTemplate {
    let isAllowed = { (text: String) in (1...4096).contains(text.utf8.count) }
    guard let text = entry.text("body", what: "1 to 4096 bytes of text", isSecret: true, isAllowed: isAllowed) else {
      return .standard
    }
    do throws(NotificationTemplate.UnknownField) {
      return try NotificationTemplate(text)
    } catch {
      let names = NotificationTemplate.Field.allCases.map { "{\($0.rawValue)}" }
      entry.reader.report(
        entry.values["body"], entry.path("body"),
        "{\(error.name)} is unknown; there are \(names.joined(separator: " "))")
      return .standard
    }
  }

  static func kinds(_ entry: ConfigurationSection) -> Set<EventKind>? {
    if entry.values["events"]?.isNull ?? true { return nil }
    guard let nodes = entry.list("events", maximum: EventKind.allCases.count) else { return nil }
    let names = EventKind.allCases.map(\.rawValue)
    return Set(
      nodes.enumerated().compactMap { index, node in
        guard let kind = node.scalar.flatMap({ EventKind(rawValue: $0.string) }) else {
          entry.reader.report(
            node, entry.path("events[\(index)]"), "must be one of \(names.joined(separator: ", ")); but is \(node.kind)"
          )
          return nil
        }
        return kind
      })
  }
}
