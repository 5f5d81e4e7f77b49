extension JSON {
  /// Decodes the value as one of our types.
  ///
  /// Throws `DecodingError` if a member is missing, has another type, or has a value that does not fit, such as a
  /// fraction or 1e300 for an `Int`.
  public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    try JSONValueDecoder(json: self, codingPath: []).value(type)
  }
}

private struct JSONValueDecoder: Decoder, SingleValueDecodingContainer {
  let json: JSON
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .object(let members) = json else { throw mismatch([String: JSON].self) }
    return KeyedDecodingContainer(JSONObjectDecoder<Key>(members: members, codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let elements) = json else { throw mismatch([JSON].self) }
    return JSONArrayDecoder(elements: elements, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { json == .null }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try value(type) }

  func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let value: Any?
    switch type {
    case let type as any JSONRepresentable.Type:
      value = type.init(json: json)
      if value == nil { throw impossible() }
    case is String.Type: value = json.string
    case is Bool.Type: if case .bool(let flag) = json { value = flag } else { value = nil }
    case let type as any FixedWidthInteger.Type:
      guard case .number(let number) = json else { throw mismatch(type) }
      value = type.init(exactly: number)
      if value == nil { throw impossible() }
    case is Double.Type: if case .number(let number) = json { value = number } else { value = nil }
    case is Float.Type: if case .number(let number) = json { value = Float(number) } else { value = nil }
    default: return try Value(from: self)
    }
    guard let value = value as? Value else { throw mismatch(type) }
    return value
  }

  private func mismatch(_ type: Any.Type) -> DecodingError {
    .typeMismatch(type, DecodingError.Context(codingPath: codingPath, debugDescription: "another type"))
  }

  private func impossible() -> DecodingError {
    .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: "a value that does not fit"))
  }
}

private struct JSONObjectDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let members: [String: JSON]
  let codingPath: [any CodingKey]

  var allKeys: [Key] { members.keys.sorted().compactMap(Key.init(stringValue:)) }

  func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try member(key).value(type) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try member(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try member(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try member(JSONKey("super")) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }

  private func member(_ key: any CodingKey) throws -> JSONValueDecoder {
    guard let json = members[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key, DecodingError.Context(codingPath: codingPath, debugDescription: "missing"))
    }
    return JSONValueDecoder(json: json, codingPath: codingPath + [key])
  }
}

private struct JSONArrayDecoder: UnkeyedDecodingContainer {
  let elements: [JSON]
  let codingPath: [any CodingKey]
  var currentIndex = 0

  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  mutating func decodeNil() throws -> Bool {
    guard try element(JSON.self).decodeNil() else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let value = try element(type).value(type)
    currentIndex += 1
    return value
  }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
    let container = try element(type).container(keyedBy: type)
    currentIndex += 1
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try element([JSON].self).unkeyedContainer()
    currentIndex += 1
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = try element(JSON.self)
    currentIndex += 1
    return decoder
  }

  private func element(_ type: Any.Type) throws -> JSONValueDecoder {
    let path = codingPath + [JSONKey(currentIndex)]
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(type, DecodingError.Context(codingPath: path, debugDescription: "missing"))
    }
    return JSONValueDecoder(json: elements[currentIndex], codingPath: path)
  }
}
