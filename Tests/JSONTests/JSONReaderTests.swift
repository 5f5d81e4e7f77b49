import JSON
import Testing

/// Reading: strict, and bounded.
@Suite struct JSONReaderTests {
  private func read(_ text: String, maximumDepth: Int = 16) throws(JSONError) -> JSON {
    try JSON(Array(text.utf8), maximumBytes: 100_000, maximumDepth: maximumDepth)
  }

  @Test func readsEveryKindOfValue() throws {
    #expect(
      try read(#" { "a" : [ null , true, false, -0.5e1, 12 ] , "b":{} , "c":[] }"#)
        == .object([
          "a": .array([.null, .bool(true), .bool(false), .number(-5), .number(12)]), "b": .object([:]), "c": .array([]),
        ]))
    #expect(try read(#""\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00ä""#) == .string("\"\\/\u{8}\u{c}\n\r\tä😀ä"))
  }

  @Test(arguments: [
    "", " ", "{", "[1,]", "[1 2]", #"{"a"}"#, #"{"a":1,}"#, "{a:1}", "tru", "nul", "01", "1.", ".5", "-", "1e", "+1",
    "1e999", "NaN", "\"a", "\"\\x\"", #""\u12""#, #""\ud800""#, #""\ude00""#, #""\ud800\u0041""#, "\"\n\"", "1 1",
    "[1]]", "'a'", "123456789012345678901234567890123",
  ])
  func refusesWhatIsNoJSON(text: String) {
    #expect {
      try read(text)
    } throws: { error in
      if case JSONError.malformed = error { true } else { false }
    }
  }

  @Test func refusesIllFormedUTF8() {
    #expect(throws: JSONError.malformed(offset: 0)) { try JSON([34, 0xff, 34], maximumBytes: 9) }
    #expect(throws: JSONError.malformed(offset: 0)) { try JSON([34, 0xc0, 0x80, 34], maximumBytes: 9) }
  }

  @Test func refusesAMemberTwiceHoweverItIsWritten() {
    #expect(throws: JSONError.duplicateMember("a", offset: 7)) { try read(#"{"a":1,"\u0061":2}"#) }
    #expect(throws: JSONError.duplicateMember("a", offset: 13)) { try read(#"[{"b":{"a":1,"a":1}}]"#) }
  }

  @Test func nestingAndLengthAreBounded() throws {
    _ = try read("[[[]]]", maximumDepth: 3)
    #expect(throws: JSONError.tooDeep(offset: 3)) { try read("[[[[]]]]", maximumDepth: 3) }
    #expect(throws: JSONError.tooDeep(offset: 16)) { try read(String(repeating: "[", count: 90_000)) }
    #expect(throws: JSONError.tooDeep(offset: 80)) { try read(String(repeating: #"{"a":"#, count: 9000)) }
    #expect(throws: JSONError.tooLong) { try JSON([49, 49], maximumBytes: 1) }
  }

  /// A damaged store is reported by its first bad byte.
  @Test(arguments: [
    ("", 0), ("{", 1), ("{\"a\"}", 4), ("[1,]", 3), ("[01]", 2), ("tru", 3), ("trie", 2), ("\"\\x\"", 2),
    ("\"a\u{1}\"", 2), ("{} x", 3), ("-", 1), ("1.", 2), ("\"\\u00g0\"", 5), ("[1 2]", 3),
  ])
  func theFirstBadByteIsNamed(text: String, offset: Int) {
    #expect(throws: JSONError.malformed(offset: offset)) { try read(text) }
  }
}
