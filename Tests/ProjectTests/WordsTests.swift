import Testing

/// Documents, samples of configuration, the page's English, the programs' help and comments are plain English in the field's
/// words.
/// A word that stands in the table has a better one; what the reader sees of it would be a riddle.
@Suite struct WordsTests {
  private struct Word {
    var pattern: Regex<Substring>
    var better: String
    /// Where it is looked for; empty: everywhere.
    var only: [String] = []
  }

  /// Made for each test: a `Regex` cannot be shared between threads.
  private let words = [
    Word(pattern: #/\b[Mm]end(?:s|ed|ing)?\b/#, better: "fix, recover"),
    Word(pattern: #/\b[Aa]new\b/#, better: "again, restart, reconnect"),
    Word(pattern: #/\b[Mm]ade (?:up|good)\b/#, better: "filled in; repaired"),
    Word(pattern: #/\b[Hh]opeless\b/#, better: "stopped responding"),
    Word(pattern: #/\b(?:is|are|was|were|be|been|being) told\b/#, better: "is notified, learns, is shown"),
    Word(pattern: #/\b(?:does|do) not go on\b/#, better: "stopped responding"),
    Word(pattern: #/\bthrown away\b/#, better: "dropped, discarded"),
    Word(pattern: #/\b(?:[Aa]n|[Nn]o|[Ee]ach|[Ee]very) order\b|\borders\b/#, better: "command"),
    Word(pattern: #/\b[Pp]ictures? (?:a|per) second\b/#, better: "fps, frames a second"),
    Word(pattern: #/\bslip of the pen\b/#, better: "typo"),
    Word(pattern: #/\bas there may be\b/#, better: "limit reached"),
    Word(pattern: #/\b[Pp]resumably\b/#, better: "a guess, marked as one, or \"not explained\""),
    Word(pattern: #/\b[Mm]eeting places?\b/#, better: "remote access server, rendezvous server", only: family),
    Word(
      pattern: #/\b(?:[Tt]he|[Aa]) child(?:'s|ren)?\b|\b[Cc]hildren\b/#, better: "camera, baby unit; your baby",
      only: family),
    Word(pattern: #/\b[Ff]ire drills?\b/#, better: "alarm drill", only: family),
  ]

  /// What the family reads. Elsewhere `child` and `parent` are the names of the two roles in code and on the wire.
  private static let family = [
    "README.md", "docs/USING.md", "docs/PLAYERS.md", "docs/OWNING.md", "docs/TROUBLESHOOTING.md", "docs/AWAY.md",
    "docs/OPERATORS.md", "docs/BOARDS.md", "docs/FAULTS.md", "config/child.yaml", "SECURITY.md",
  ]

  /// A piece of a line, and why it may stay. What is not needed any more fails the test.
  private static let exceptions = [
    "*Fire drill*": "the button's label",
    "`children`": "the key of rendezvous.yaml",
    "`children: open`": "the key of rendezvous.yaml",
    "`maximum-children`": "a key of rendezvous.yaml",
    "cradle-parent children": "the command",
    "`not at a meeting place`": "what the log writes",
    "looking after a child": "a real one",
  ]

  /// Not looked at. A reason for each.
  private static let leftOut = [
    "CHANGELOG.md": "the notes of versions before stay as they were",
    "docs/ESTIMATOR.md": "uses the words of the papers that it follows",
    "Sources/Protocols/RTPSending/Congestion": "the same",
  ]

  @Test func documentsUseTheProjectsWords() throws {
    var unused = Set(Self.exceptions.keys)
    let samples = try Project.files(below: "config").filter { $0.path.hasSuffix(".yaml") }.map { file in
      (file.path, file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { ($0 + 1, $1) })
    }
    let documents = try Document.all().filter { Self.leftOut[$0.path] == nil }.map { document in
      (document.path, document.lines.map { ($0.number, $0.text) })
    }
    // Help and messages, as far as they stand in the commands; and the page's English.
    let programs = try ["cradle-child", "cradle-parent", "cradle-rendezvous"].flatMap { program in
      try Project.swiftFiles(below: "Sources/\(program)").map { file in
        (
          file.path,
          file.code.filter { $0.text.contains("\"") || !$0.text.contains("(") }.map { ($0.number, Substring($0.text)) }
        )
      }
    }
    let comments = try Project.files(below: "Sources").filter { file in
      file.path.hasSuffix(".swift") || file.path.hasSuffix(".js") || file.path.hasSuffix(".h")
    }.filter { file in !Self.leftOut.keys.contains { file.path.hasPrefix($0) } }.map { ($0.path, $0.comments) }
    let english = "Sources/Web/Pages/texts/en.js"
    let page = try Project.text(english).split(separator: "\n").enumerated().map { ($0 + 1, $1) }
    for (path, lines) in documents + samples + programs + comments + [(english, page)] {
      for (number, line) in lines {
        var text = String(line)
        for exception in Self.exceptions.keys.sorted(by: { $0.count > $1.count }) where text.contains(exception) {
          text = text.replacing(exception, with: "")
          unused.remove(exception)
        }
        for word in words where word.only.isEmpty || word.only.contains(path) {
          guard let match = text.firstMatch(of: word.pattern) else { continue }
          Issue.record("\(path):\(number): \"\(match.output)\": write \(word.better)")
        }
      }
    }
    #expect(unused.isEmpty, "needed no more")
  }
}
