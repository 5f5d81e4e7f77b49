/// A type with its own JSON form instead of the one `Codable` gives it, such as a date as text.
public protocol JSONRepresentable {
  /// Nil if the JSON is not one of its values.
  init?(json: JSON)
  var json: JSON { get }
}

extension JSON {
  /// The JSON form of `value`. Throws only what the value's own `encode(to:)` throws.
  public init(encoding value: some Encodable) throws {
    let slot = JSONSlot()
    try slot.encode(value, at: [])
    self = slot.json
  }

  /// The JSON form of one of our own documents, whose encoding cannot fail.
  public static func document(_ value: some Encodable) -> JSON {
    do {
      return try JSON(encoding: value)
    } catch {
      preconditionFailure("a document of ours is not encodable: \(error)")
    }
  }

  /// The same as text, with members sorted by name.
  public static func text(_ value: some Encodable, pretty: Bool = false) -> String {
    document(value).text(pretty: pretty)
  }
}

/// A node of the document being built. A class, because `Codable` containers are filled after they are returned.
private final class JSONSlot {
  private enum Content {
    case empty
    case value(JSON)
    case object([String: JSONSlot])
    case array([JSONSlot])
  }

  private var content = Content.empty

  var json: JSON {
    switch content {
    // A type without properties to encode.
    case .empty: .object([:])
    case .value(let value): value
    case .object(let members): .object(members.mapValues(\.json))
    case .array(let elements): .array(elements.map(\.json))
    }
  }

  var count: Int {
    if case .array(let elements) = content { elements.count } else { 0 }
  }

  /// Two containers of one encoder fill the same object.
  func becomeObject() {
    if case .object = content { return }
    content = .object([:])
  }

  func becomeArray() {
    if case .array = content { return }
    content = .array([])
  }

  func member(_ name: String) -> JSONSlot {
    let slot = JSONSlot()
    if case .object(var members) = content {
      // Lets the dictionary be changed in place.
      content = .empty
      members[name] = slot
      content = .object(members)
    } else {
      content = .object([name: slot])
    }
    return slot
  }

  func element() -> JSONSlot {
    let slot = JSONSlot()
    if case .array(var elements) = content {
      content = .empty
      elements.append(slot)
      content = .array(elements)
    } else {
      content = .array([slot])
    }
    return slot
  }

  func set(_ json: JSON) { content = .value(json) }

  func encode(_ value: some Encodable, at path: [any CodingKey]) throws {
    switch value {
    case let value as any JSONRepresentable: set(value.json)
    case let value as String: set(.string(value))
    case let value as Bool: set(.bool(value))
    case let value as any BinaryInteger: set(.number(Double(value)))
    case let value as Double: set(.number(value))
    case let value as Float: set(.number(Double(value)))
    default: try value.encode(to: JSONValueEncoder(slot: self, codingPath: path))
    }
  }
}

private struct JSONValueEncoder: Encoder, SingleValueEncodingContainer {
  let slot: JSONSlot
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    slot.becomeObject()
    return KeyedEncodingContainer(JSONObjectEncoder<Key>(slot: slot, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    slot.becomeArray()
    return JSONArrayEncoder(slot: slot, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() { slot.set(.null) }

  func encode<Value: Encodable>(_ value: Value) throws { try slot.encode(value, at: codingPath) }
}

private struct JSONObjectEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let slot: JSONSlot
  let codingPath: [any CodingKey]

  func encodeNil(forKey key: Key) { slot.member(key.stringValue).set(.null) }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try slot.member(key.stringValue).encode(value, at: codingPath + [key])
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    member(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { member(key).unkeyedContainer() }

  func superEncoder() -> any Encoder { member(JSONKey("super")) }

  func superEncoder(forKey key: Key) -> any Encoder { member(key) }

  private func member(_ key: any CodingKey) -> JSONValueEncoder {
    JSONValueEncoder(slot: slot.member(key.stringValue), codingPath: codingPath + [key])
  }
}

private struct JSONArrayEncoder: UnkeyedEncodingContainer {
  let slot: JSONSlot
  let codingPath: [any CodingKey]
  var count: Int { slot.count }

  func encodeNil() { slot.element().set(.null) }

  func encode<Value: Encodable>(_ value: Value) throws {
    let path = codingPath + [JSONKey(count)]
    try slot.element().encode(value, at: path)
  }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    element().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { element().unkeyedContainer() }

  func superEncoder() -> any Encoder { element() }

  private func element() -> JSONValueEncoder {
    let path = codingPath + [JSONKey(count)]
    return JSONValueEncoder(slot: slot.element(), codingPath: path)
  }
}

/// A position in a document, for error messages.
struct JSONKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(_ name: String) {
    stringValue = name
    intValue = nil
  }

  init(_ index: Int) {
    stringValue = "\(index)"
    intValue = index
  }

  init?(stringValue: String) { self.init(stringValue) }

  init?(intValue: Int) { self.init(intValue) }
}
