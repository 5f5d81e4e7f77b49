import JSON
import Testing

/// Writing: one text for one value, which the reader reads back.
@Suite struct JSONWriterTests {
  @Test(arguments: [
    #"null"#, #"true"#, #"[]"#, #"{}"#, #"[1,-0.5,"a",[{"a":null}]]"#, #"{"a":1,"b":{"c":[false]}}"#,
    #""\"\\/\b\f\n\r\t\u0001\u007fä😀""#, #"9007199254740992"#, #"1e+300"#, #"1e-09"#,
  ])
  func whatIsWrittenIsReadAsTheSame(text: String) throws {
    let value = try JSON(Array(text.utf8), maximumBytes: 100)
    #expect(value.text == text)
    #expect(try JSON(Array(value.text(pretty: true).utf8), maximumBytes: 100) == value)
  }

  @Test func prettyTextHasALineForEachMember() {
    let value = JSON.object(["b": .array([.number(1), .object([:])]), "a": .null])
    #expect(value.text(pretty: true) == "{\n  \"a\" : null,\n  \"b\" : [\n    1,\n    {}\n  ]\n}")
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity])
  func aNumberThatJSONCannotHoldIsNull(number: Double) {
    #expect(JSON.text(["a": number]) == #"{"a":null}"#)
  }
}
