import Storage
import Testing

/// A file of config/, as it is installed.
struct ShippedConfiguration {
  let path: String

  init(_ name: String) {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    path = "\(folder)/config/\(name)"
  }

  /// The keys that it shows, without the "#" that stands right before each one. What is shown ends with its paragraph.
  func shownKeys() throws -> String {
    let bytes = try #require(try AtomicFile(path: path).read())
    var isShown = false
    var shown: [String] = []
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false) {
      if line.isEmpty { isShown = false }
      if line.first == "#", line.dropFirst().first?.isLetter ?? false { isShown = true }
      if isShown { shown.append(String(line.dropFirst())) }
    }
    return shown.joined(separator: "\n")
  }
}
