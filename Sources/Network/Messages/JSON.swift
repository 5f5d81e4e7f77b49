internal import FoundationEssentials

/// Why bytes are not the JSON that we read.
enum JSONError: Error, Hashable, Sendable {
  /// More bytes than the reader allows.
  case tooLong
  /// Deeper nesting than the reader allows.
  case tooDeep
  /// An object names a member twice, so two readers could understand two things. RFC 8259 section 4.
  case duplicateMember(String)
  /// The offset of the first byte that cannot stand where it stands, or the end when something is missing there.
  case malformed(offset: Int)
}

/// A JSON value from a peer, RFC 8259.
///
/// JSONDecoder alone is too kind for what a stranger sends: it takes one of two members with the same name and follows
/// nesting far down. What is read here is unambiguous and bounded, and then JSONDecoder may have it.
enum JSON: Hashable, Sendable {
  case null
  case bool(Bool)
  /// Finite. Whole numbers are exact up to 2^53.
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// Reads one value and nothing after it.
  ///
  /// - Parameters:
  ///   - bytes: UTF-8.
  ///   - maximumBytes: longer input is refused unread.
  ///   - deepest: how many arrays and objects may stand in one another.
  init(_ bytes: [UInt8], maximumBytes: Int, deepest: Int = 16) throws(JSONError) {
    guard bytes.count <= maximumBytes else { throw .tooLong }
    var reader = JSONReader(bytes: bytes, deepest: deepest)
    self = try reader.readAll()
  }

  var object: [String: JSON]? {
    if case .object(let members) = self { members } else { nil }
  }

  var string: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The same value with every text fit for a terminal: without control characters, at most `scalars` long.
  func printable(scalars: Int) -> JSON {
    switch self {
    case .null, .bool, .number: self
    case .string(let text): .string(Self.printable(text, scalars: scalars))
    case .array(let elements): .array(elements.map { $0.printable(scalars: scalars) })
    case .object(let members): .object(members.mapValues { $0.printable(scalars: scalars) })
    }
  }

  private static func printable(_ text: String, scalars: Int) -> String {
    // C0, DEL and C1 steer a terminal; bidirectional controls make a text read as another.
    let kept = text.unicodeScalars.lazy.filter { scalar in
      scalar.value >= 32 && !(127...159).contains(scalar.value) && !(0x202a...0x202e).contains(scalar.value)
        && !(0x2066...0x2069).contains(scalar.value)
    }
    return String(String.UnicodeScalarView(kept.prefix(scalars)))
  }

  /// The value as one of ours; throws DecodingError.
  func decode<Value: Decodable>(_: Value.Type = Value.self) throws -> Value {
    try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(self))
  }

  /// JSON text for people and programs: members in a fixed order, slashes as they are.
  static func text(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { preconditionFailure("our own values are always JSON") }
    return String(decoding: data, as: UTF8.self)
  }
}

extension JSON: Encodable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}
