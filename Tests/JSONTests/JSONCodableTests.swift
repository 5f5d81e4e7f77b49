import JSON
import Testing

/// `Codable` documents to JSON and back.
@Suite struct JSONCodableTests {
  private struct Inner: Codable, Equatable {
    enum Word: String, Codable { case yes, no }
    var word: Word
    var list: [Int?]
    var numbers: [String: UInt8]
  }

  /// Encodes into the members of its owner, as `StatusDocument` does with its state.
  private struct Flat: Codable, Equatable {
    var inner: Inner
    var name: String

    private enum CodingKeys: String, CodingKey { case name }

    init(inner: Inner, name: String) {
      self.inner = inner
      self.name = name
    }

    init(from decoder: any Decoder) throws {
      inner = try Inner(from: decoder)
      name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
    }

    func encode(to encoder: any Encoder) throws {
      try inner.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(name, forKey: .name)
    }
  }

  private struct Nothing: Codable, Equatable {}

  private let inner = Inner(word: .yes, list: [1, nil, -3], numbers: ["a": 255])

  private func read(_ text: String) throws -> JSON { try JSON(Array(text.utf8), maximumBytes: 1000) }

  @Test func documentsComeBackAsTheyWere() throws {
    let flat = Flat(inner: inner, name: "x")
    let text = JSON.text(flat)
    #expect(text == #"{"list":[1,null,-3],"name":"x","numbers":{"a":255},"word":"yes"}"#)
    #expect(try read(text).decode(Flat.self) == flat)
    #expect(JSON.text([Nothing()]) == "[{}]")
    #expect(try read("[{},{}]").decode([Nothing].self) == [Nothing(), Nothing()])
    #expect(try read(#"["a",null]"#).decode([String?].self) == ["a", nil])
    #expect(JSON.text("a") == #""a""#)
  }

  @Test(arguments: [
    #"{"list":[],"numbers":{"a":256},"word":"yes"}"#, #"{"list":[1.5],"numbers":{},"word":"yes"}"#,
    #"{"list":[1e300],"numbers":{},"word":"yes"}"#, #"{"list":[],"numbers":{"a":-1},"word":"yes"}"#,
    #"{"list":[],"numbers":{},"word":"perhaps"}"#, #"{"list":[true],"numbers":{},"word":"yes"}"#,
    #"{"list":["1"],"numbers":{},"word":"yes"}"#, #"{"list":{},"numbers":{},"word":"yes"}"#,
    #"{"list":[],"numbers":{},"word":null}"#, #"{"list":[],"numbers":{}}"#, "[]", "null",
  ])
  func whatDoesNotFitIsRefused(text: String) throws {
    let json = try read(text)
    #expect(throws: DecodingError.self) { try json.decode(Inner.self) }
  }

  @Test func theErrorSaysWhere() throws {
    let json = try read(#"{"list":[1,"2"],"numbers":{},"word":"yes"}"#)
    #expect {
      try json.decode(Inner.self)
    } throws: { error in
      guard case DecodingError.typeMismatch(_, let context) = error else { return false }
      return context.codingPath.map(\.stringValue) == ["list", "1"] && context.codingPath[1].intValue == 1
    }
  }
}
