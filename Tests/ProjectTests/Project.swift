import Foundation
import Testing

/// The project's own files, as tests read them.
enum Project {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  struct File {
    /// From the project's root: `Sources/Child/Node/ChildNode.swift`.
    let path: String
    let text: String

    /// The modules that it imports.
    var imports: Set<String> {
      let line = #/^(?:@\w+(?:\(\w+\))? )*(?:public |package |internal |private |fileprivate )?import (?:\w+ )?(\w+)/#
      return Set(code.compactMap { $0.text.prefixMatch(of: line).map { String($0.output.1) } })
    }

    /// Without comments, each with its number.
    var code: [(number: Int, text: String)] {
      text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { index, line in
        guard line.utf8.contains(0x2f), let comment = line.firstRange(of: "//") else {
          return (index + 1, String(line))
        }
        return (index + 1, String(line[..<comment.lowerBound]))
      }
    }

    /// What stands in comments, each line with its number. Not what follows code and a URL.
    var comments: [(number: Int, text: Substring)] {
      text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
        line.firstMatch(of: #/^\s*(?://+|/?\*+)(?<text>.*)|\s//+\s(?<rest>.*)/#).flatMap { $0.text ?? $0.rest }
          .map { (index + 1, $0) }
      }
    }
  }

  static func swiftFiles(below folder: String) throws -> [File] {
    let walker = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
    let urls = (walker?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
    let files = try urls.map { url in
      File(
        path: String(url.path.dropFirst(root.path.count + 1)), text: try String(contentsOf: url, encoding: .utf8))
    }
    try #require(!files.isEmpty, "\(folder) has no Swift files")
    return files.sorted { $0.path < $1.path }
  }

  /// Every file of text below a folder; what is not UTF-8 is left out.
  static func files(below folder: String) throws -> [File] {
    let walker = FileManager.default.enumerator(
      at: root.appending(path: folder), includingPropertiesForKeys: [.isRegularFileKey])
    let urls = try (walker?.compactMap { $0 as? URL } ?? []).filter {
      try $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true && $0.pathExtension != "pyc"
    }
    return urls.compactMap { url in
      guard let text = try? String(contentsOf: url, encoding: .utf8) else { return nil }
      return File(path: String(url.path.dropFirst(root.path.count + 1)), text: text)
    }.sorted { $0.path < $1.path }
  }

  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }
}
