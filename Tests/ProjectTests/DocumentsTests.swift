import Foundation
import Testing

/// What the documents say of each other, of the sources and of the tests is there, and they use the project's words.
@Suite struct DocumentsTests {
  // MARK: - Links

  /// Of links to files of ours: the file is there, and so is the heading.
  @Test func everyLinkLeadsSomewhere() throws {
    for document in try Document.all() {
      for link in document.links where !link.target.contains("://") && !link.target.hasPrefix("mailto:") {
        let parts = link.target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let path = parts[0].isEmpty ? document.path : Self.resolve(parts[0], from: document.path)
        let exists = FileManager.default.fileExists(atPath: Project.root.appending(path: path).path)
        #expect(exists, "\(document.path):\(link.line): there is no \(path)")
        guard exists, parts.count == 2, path.hasSuffix(".md") else { continue }
        let anchors = try Document(path).headings.map(\.anchor)
        #expect(anchors.contains(parts[1]), "\(document.path):\(link.line): \(path) has no #\(parts[1])")
      }
    }
  }

  /// `docs/AWAY.md` in a comment, a message, a sample or a script; and `interfaces/files.md, "Files"`, which names a heading or a
  /// paragraph that begins with **Files**.
  @Test func whatTheTreeNamesIsThere() throws {
    let named =
      #/(?<path>(?:docs/)(?:interfaces/)?[A-Za-z]+\.md|interfaces/[a-z]+\.md|\b[A-Z]{3,}\.md)(?:, "(?<section>[^"\n]+)")?/#
    var found = 0
    for folder in ["Sources", "Tests", "config", "systemd", "Examples"] {
      for file in try Project.files(below: folder) where !file.path.contains("/Fixtures/") {
        for match in file.text.matches(of: named) {
          let written = String(match.path)
          guard
            let path = ["", "docs/", "Tests/", "Tests/Hardware/"].map({ $0 + written }).first(where: {
              FileManager.default.fileExists(atPath: Project.root.appending(path: $0).path)
            })
          else {
            Issue.record("\(file.path): there is no \(written)")
            continue
          }
          found += 1
          guard let section = match.section else { continue }
          let document = try Document(path)
          let isThere =
            document.headings.contains { $0.text.contains(section) } || document.text.contains("\n**\(section)")
          #expect(isThere, "\(file.path): \(path) has no \"\(section)\"")
        }
      }
    }
    #expect(found > 100)
  }

  @Test func theIndexNamesEveryDocument() throws {
    let index = try Document("docs/README.md")
    let targets = Set(index.links.map { Self.resolve($0.target, from: index.path) })
    for document in try Document.all() where document.path.hasPrefix("docs/") && document.path != index.path {
      #expect(targets.contains(document.path), "docs/README.md does not name \(document.path)")
    }
  }

  @Test func everyFolderOfTestsIsExplained() throws {
    let text = try Project.text("Tests/README.md")
    let folders = try FileManager.default.contentsOfDirectory(
      at: Project.root.appending(path: "Tests"), includingPropertiesForKeys: [.isDirectoryKey])
    for folder in folders where try folder.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true {
      let name = folder.lastPathComponent
      guard !name.hasSuffix("Tests"), name != "__pycache__" else { continue }
      #expect(text.contains("`\(name)`"), "Tests/README.md does not explain Tests/\(name)")
    }
  }

  /// A parent reads it on a phone.
  @Test func theREADMEIsShort() throws {
    let words = try Project.text("README.md").split { $0.isWhitespace }.count
    #expect(words <= 900, "README.md has \(words) words")
  }

  // MARK: - Examples

  /// The tables of "How to add …": every file in which the example's name stands, and no other. Their heading has the names
  /// in code: `| file | what \`.cameraSwitch\` does there |`.
  @Test func howToAddNamesEveryPlace() throws {
    let document = try Document("docs/CONTRIBUTING.md")
    let files = try Project.files(below: "Sources") + Project.files(below: "config")
    let examples = document.tables.filter { $0.heading.first == "file" && $0.heading.last?.hasPrefix("what") == true }
    #expect(examples.count == 5)
    for example in examples {
      let names = try #require(example.heading.last).matches(of: #/`([^`]+)`/#).map { String($0.output.1) }
      try #require(!names.isEmpty)
      let listed = Set(example.rows.map { $0[0].filter { $0 != "`" } })
      let present = Set(files.filter { file in names.contains { Self.stands($0, in: file.text) } }.map(\.path))
      #expect(listed == present, "docs/CONTRIBUTING.md: \(names.joined(separator: ", "))")
    }
  }

  /// The Swift code of docs/LIBRARY.md is code of `Examples/`, which `ExamplesTests` builds and runs.
  @Test func theLibraryGuideShowsTheExamples() throws {
    let text = try Project.text("docs/LIBRARY.md")
    let examples = try Project.swiftFiles(below: "Examples").map(\.text)
    let blocks = text.matches(of: #/```swift\n(?<code>(?s:.*?))```/#).map { String($0.code) }
    #expect(blocks.count > 8)
    for block in blocks {
      #expect(examples.contains { $0.contains(block) }, "docs/LIBRARY.md: no example has this:\n\(block)")
    }
    // And it names each of them.
    for folder in ["Echo", "Loopback", "WHEPPlayer"] { #expect(text.contains("| `\(folder)` |")) }
  }

  /// As a word of its own: `.raspberryPi`, but not `camera.raspberryPi`.
  private static func stands(_ name: String, in text: String) -> Bool {
    func isPart(_ character: Character) -> Bool { character.isLetter || character.isNumber || character == "_" }
    return text.ranges(of: name).contains { range in
      let before = range.lowerBound == text.startIndex ? nil : text[text.index(before: range.lowerBound)]
      let after = range.upperBound == text.endIndex ? nil : text[range.upperBound]
      return !(before.map(isPart) ?? false) && !(after.map(isPart) ?? false)
    }
  }

  @Test func namesStandAsWords() {
    #expect(Self.stands(".raspberryPi", in: "case .raspberryPi: true"))
    #expect(!Self.stands(".raspberryPi", in: "camera.raspberryPi"))
    #expect(!Self.stands("zh", in: "azhure"))
    #expect(Self.stands("zh", in: #"zh: ["#))
  }

  // MARK: -

  /// `../README.md` from `docs/USING.md` is `README.md`.
  private static func resolve(_ target: String, from path: String) -> String {
    var parts = path.split(separator: "/").dropLast().map(String.init)
    for part in target.prefix(while: { $0 != "#" }).split(separator: "/") {
      if part == ".." { parts = Array(parts.dropLast()) } else if part != "." { parts.append(String(part)) }
    }
    return parts.joined(separator: "/")
  }
}
