import Foundation
import Testing

/// Rules of the house that the compiler does not check.
@Suite struct HouseRulesTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static func swiftFiles(below folder: String) -> [URL] {
    let walker = FileManager.default.enumerator(
      at: root.appending(path: folder), includingPropertiesForKeys: nil)
    return (walker?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
  }

  private static func imports(of file: URL) throws -> [String] {
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard let index = words.firstIndex(of: "import"), index <= 3,
        words[..<index].allSatisfy({ $0.hasPrefix("@") || ["public", "internal", "private", "package"].contains($0) })
      else { return nil }
      return words.last.map { String($0.split(separator: ".")[0]) }
    }
  }

  /// Cores take bytes and `now`; a clock, a lock, a socket or a C library there is a mistake.
  @Test func coresImportOnlyCores() throws {
    let protocols = Self.root.appending(path: "Sources/Protocols")
    let cores = Set(try FileManager.default.contentsOfDirectory(atPath: protocols.path))
    let files = Self.swiftFiles(below: "Sources/Protocols")
    #expect(files.count > 20)
    for file in files {
      for name in try Self.imports(of: file) {
        #expect(cores.contains(name), "\(file.lastPathComponent) imports \(name)")
      }
    }
  }

  /// Layers: programs, then Child and Parent, then Devices, Network and Storage with Media, then the cores.
  @Test func arrowsPointDown() throws {
    let child: Set = ["Child", "Parent", "cradle_child", "ArgumentParser"]
    for folder in ["Media", "Devices", "Network", "Storage", "Health"] {
      for file in Self.swiftFiles(below: "Sources/\(folder)") {
        #expect(child.isDisjoint(with: try Self.imports(of: file)), "\(file.lastPathComponent)")
      }
    }
    for file in Self.swiftFiles(below: "Sources/Media") {
      let upward: Set = ["Devices", "Server", "SecureTransport", "Identity", "Storage", "PeerConnection"]
      #expect(upward.isDisjoint(with: try Self.imports(of: file)), "\(file.lastPathComponent)")
    }
  }

  @Test func filesStayReadable() throws {
    for file in Self.swiftFiles(below: "Sources") {
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.count <= 501, "\(file.lastPathComponent) has \(lines.count) lines")
    }
  }

  @Test func sourcesAreFormatted() throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "swift", "format", "lint", "--strict", "--recursive", "--parallel", "Package.swift", "Sources", "Tests",
      "Examples",
    ]
    process.currentDirectoryURL = Self.root
    let output = Pipe()
    process.standardError = output
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "run `make format`:\n\(text.prefix(2000))")
  }
}
