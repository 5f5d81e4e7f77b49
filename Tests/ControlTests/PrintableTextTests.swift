import JSON
import Testing

@testable import Messages

/// What a child says is shown on a terminal.
@Suite struct PrintableTextTests {
  @Test func textsAreMadeFitForATerminal() throws {
    let value = try read(#"{"a":["\u001b[1mred\u009b\u007f\u202e!"],"b":"abcdef"}"#)
    #expect(value.printable(scalars: 5) == .object(["a": .array([.string("[1mre")]), "b": .string("abcde")]))
    #expect(try read(#""\u001bx\u202e\u2066y""#).printable(scalars: 9) == .string("xy"))
    #expect(try read(#""a\nb\u2029\u200e\ue000""#).printable(scalars: 9) == .string("a b "))
  }

  private func read(_ text: String) throws -> JSON { try JSON(Array(text.utf8), maximumBytes: 1000) }
}
