import Foundation
import Testing

@testable import Storage

/// What the documents show of child.yaml and rendezvous.yaml is what the programs read.
@Suite struct DocumentedConfigurationTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Fenced blocks of YAML, with the indent of a list that they stand in taken off.
  private static func blocks(_ text: String) -> [(line: Int, text: String)] {
    var blocks: [(line: Int, text: String)] = []
    var indent: Int?
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let content = line.drop { $0 == " " }
      if let current = indent {
        if content.hasPrefix("```") {
          indent = nil
        } else {
          blocks[blocks.count - 1].text += line.dropFirst(current) + "\n"
        }
      } else if content.hasPrefix("```yaml") {
        indent = line.count - content.count
        blocks.append((index + 2, ""))
      }
    }
    return blocks
  }

  @Test func everyExampleIsRead() throws {
    let walker = FileManager.default.enumerator(at: Self.root.appending(path: "docs"), includingPropertiesForKeys: nil)
    let documents = (walker?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "md" }
    var count = 0
    for document in documents {
      for block in Self.blocks(try String(contentsOf: document, encoding: .utf8)) {
        let name = "\(document.lastPathComponent):\(block.line)"
        // A placeholder stands for what only the reader's server knows.
        let text = block.text.replacing(
          "key-sha256: \"…\"", with: "key-sha256: \"\(String(repeating: "0", count: 64))\"")
        count += 1
        #expect(throws: Never.self, "\(name)") {
          if text.contains("\nnames:") || text.hasPrefix("names:") {
            _ = try RendezvousConfiguration.parse(Array(text.utf8), file: name)
          } else {
            _ = try ChildConfiguration.parse(Array(text.utf8), file: name)
          }
        }
      }
    }
    #expect(count >= 7)
  }
}
