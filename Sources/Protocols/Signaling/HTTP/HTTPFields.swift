/// Header fields in order; names match in any case. RFC 9110 section 5.
public struct HTTPFields: Hashable, Sendable, ExpressibleByDictionaryLiteral {
  public struct Field: Hashable, Sendable {
    public var name: String
    public var value: String
  }

  public private(set) var fields: [Field] = []

  public init() {}

  public init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { add(name, value) }
  }

  /// Control characters are removed from the value, so that no value can start another field.
  public mutating func add(_ name: String, _ value: String) {
    var clean = ""
    clean.unicodeScalars.append(contentsOf: value.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f })
    fields.append(Field(name: name, value: clean))
  }

  /// All values of the name, joined by commas (RFC 9110 section 5.3); nil without any.
  public subscript(name: String) -> String? {
    let values = self.values(name)
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  public func values(_ name: String) -> [String] {
    let name = name.lowercased()
    return fields.filter { $0.name.lowercased() == name }.map(\.value)
  }
}

/// Media types in `Content-Type` and `Accept`. RFC 9110 sections 8.3 and 12.5.1.
enum MediaType {
  static let sdp = "application/sdp"
  static let trickleFragment = "application/trickle-ice-sdpfrag"

  /// Whether a `Content-Type` names this type; parameters are ignored.
  static func matches(_ contentType: String?, _ type: String) -> Bool {
    guard let contentType else { return false }
    return trimmed(contentType.prefix { $0 != ";" }).lowercased() == type
  }

  /// Whether an `Accept` value allows the type. The most specific range counts; no header allows everything.
  static func isAccepted(_ type: String, by accept: String?) -> Bool {
    guard let accept, !trimmed(accept[...]).isEmpty else { return true }
    let family = type.prefix { $0 != "/" } + "/*"
    var best: (rank: Int, allowed: Bool) = (-1, false)
    for range in accept.split(separator: ",") {
      let parts = range.split(separator: ";").map { trimmed($0).lowercased() }
      let rank: Int
      switch parts.first {
      case type: rank = 2
      case String(family): rank = 1
      case "*/*", "*": rank = 0
      default: continue
      }
      let isExcluded = parts.dropFirst().contains { part in
        part.hasPrefix("q=0") && part.dropFirst(3).allSatisfy { $0 == "." || $0 == "0" }
      }
      if rank > best.rank { best = (rank, !isExcluded) }
    }
    return best.allowed
  }

  private static func trimmed(_ text: Substring) -> String {
    let head = text.drop { $0 == " " || $0 == "\t" }
    guard let last = head.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
    return String(head[...last])
  }
}

/// Entity tags in `If-Match`. RFC 9110 sections 8.8.3 and 13.1.1.
enum IfMatch: Equatable {
  case missing
  case any
  case tags([String])

  init(_ value: String?) {
    guard let value else {
      self = .missing
      return
    }
    let tags = value.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
    // The draft's own example puts the star in quotes.
    self = tags.contains { $0 == "*" || $0 == "\"*\"" } ? .any : .tags(tags)
  }

  /// Strong comparison: a weak tag never matches.
  func allows(_ current: String) -> Bool {
    switch self {
    case .missing: false
    case .any: true
    case .tags(let tags): tags.contains(current)
    }
  }
}
