import DeviceNames
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

  // MARK: - Every key

  /// Dotted names of the keys of a text; those of a list's entries without a number.
  private static func keys(_ text: String) throws -> Set<String> {
    func keys(_ node: YAMLNode, _ path: String) -> [String] {
      let below = (node.sequence ?? []).flatMap { keys($0, path) }
      return (node.mapping ?? []).reduce(into: below) { found, pair in
        guard let name = pair.key.scalar?.string else { return }
        let full = path.isEmpty ? name : "\(path).\(name)"
        found += [full] + keys(pair.value, full)
      }
    }
    return Set(keys(try #require(try YAMLComposer.compose(Array(text.utf8))), ""))
  }

  private static func documented() throws -> String {
    let document = try String(
      contentsOf: root.appending(path: "docs/interfaces/configuration.md"), encoding: .utf8)
    return try #require(blocks(document).first).text
  }

  /// The table of keys is what the program reads: what it has, the shipped file and the document show, with the default.
  @Test func everyKeyStandsInBothDocumentsWithItsDefault() throws {
    let known = ChildConfiguration.keys.names()
    #expect(known.contains("cameras.rpicam.tuning-file") && known.contains("microphone.may-be-silent"))
    for (name, text) in [
      ("config/child.yaml", try ShippedConfiguration("child.yaml").shownKeys()),
      ("configuration.md", try Self.documented()),
    ] {
      let missing = Set(known).subtracting(try Self.keys(text))
      #expect(missing.isEmpty, "\(name) does not show \(missing.sorted())")
      var shown = try ChildConfiguration.parse(Array(text.utf8), file: name)
      shown.name = nil
      #expect(shown == .defaults, "\(name) shows other defaults")
    }
  }

  /// As is each kind of camera.
  @Test func everyKindOfCameraIsDocumented() throws {
    let shipped = try String(
      contentsOf: Self.root.appending(path: "config/child.yaml"), encoding: .utf8)
    for kind in VideoDevice.Kind.allCases {
      #expect(shipped.contains(kind.traits.prefix), "config/child.yaml does not explain \(kind)")
      #expect(try Self.documented().contains(kind.traits.prefix), "configuration.md does not name \(kind)")
    }
  }
}
