import Foundation

/// A document in Markdown, as far as tests look into it.
struct Document {
  /// From the project's root.
  let path: String
  let text: String
  /// Each with its number; what stands in fenced code is left out.
  private let prose: [(number: Int, text: Substring)]

  init(_ path: String) throws {
    self.path = path
    text = try Project.text(path)
    var isCode = false
    var prose: [(Int, Substring)] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line.drop(while: { $0 == " " }).hasPrefix("```") {
        isCode.toggle()
      } else if !isCode {
        prose.append((index + 1, line))
      }
    }
    self.prose = prose
  }

  /// All of ours.
  static func all() throws -> [Document] {
    let top = ["README.md", "SECURITY.md", "CHANGELOG.md"]
    let below = try ["docs", "Tests"].flatMap { try Project.files(below: $0) }.map(\.path).filter {
      $0.hasSuffix(".md")
    }
    return try (top + below).map(Document.init)
  }

  /// Lines outside fenced code.
  var lines: [(number: Int, text: Substring)] { prose }

  /// `[text](target)`, pictures included.
  var links: [(line: Int, target: String)] {
    let link = #/\]\(([^)\s]+)\)/#
    return prose.flatMap { line in line.text.matches(of: link).map { (line.number, String($0.output.1)) } }
  }

  /// With the anchor that GitHub gives each.
  var headings: [(text: String, anchor: String)] {
    prose.filter { $0.text.hasPrefix("#") }.map { line in
      let text = String(line.text.drop { $0 == "#" }.drop { $0 == " " })
      let kept = text.lowercased().filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
      return (text, kept.replacing(" ", with: "-"))
    }
  }

  /// Cells without the space around them.
  var tables: [(heading: [String], rows: [[String]])] {
    var tables: [(heading: [String], rows: [[String]])] = []
    var last = 0
    for line in prose where line.text.hasPrefix("|") {
      let cells = line.text.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      if line.number != last + 1 {
        tables.append((cells, []))
      } else if !line.text.hasPrefix("| ---") {
        tables[tables.count - 1].rows.append(cells)
      }
      last = line.number
    }
    return tables
  }
}
