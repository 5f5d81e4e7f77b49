import Testing

/// A test that could not look at anything must not pass in silence.
@Suite struct TestHygieneTests {
  /// `guard … else { return }` in the body of a test: `#require` fails instead, and `.enabled(if:)` says why it skips.
  /// Closures and loops inside a test may leave early; a test's own body may not.
  @Test func noTestReturnsBeforeItExpects() throws {
    for file in try Project.swiftFiles(below: "Tests") {
      var body: Int?
      var isTest = false
      for line in file.code where !line.text.allSatisfy(\.isWhitespace) {
        let indent = line.text.prefix { $0 == " " }.count
        if line.text.contains("@Test") { isTest = true }
        if isTest, line.text.contains("func "), body == nil { body = indent + 2 }
        guard let inner = body else { continue }
        if indent < inner, line.text.contains("}"), !line.text.contains("{") {
          body = nil
          isTest = false
        }
        guard indent == inner, line.text.contains("return }") else { continue }
        let returns = line.text.contains(#/guard .*else \{ return \}/#) || line.text.contains(#/\bif .*\{ return \}/#)
        if returns {
          Issue.record("\(file.path):\(line.number): passes in silence: \(line.text)")
        }
      }
    }
  }

  /// Whoever reads the log of a run must see why a test was left out.
  @Test func everySkipHasAReason() throws {
    for file in try Project.swiftFiles(below: "Tests") where !file.path.contains("TestHygieneTests") {
      let code = file.code
      for line in code where [".enabled(", ".disabled("].contains(where: line.text.contains) {
        let next = code[min(line.number, code.count - 1)].text
        #expect((line.text + next).contains("\""), "\(file.path):\(line.number): no reason: \(line.text)")
      }
    }
  }
}
