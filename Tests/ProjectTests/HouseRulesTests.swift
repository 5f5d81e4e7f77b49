import Foundation
import Testing

/// Rules of the house that the compiler does not check.
@Suite struct HouseRulesTests {
  @Test func filesStayReadable() throws {
    for file in try Project.swiftFiles(below: "Sources") {
      let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.count <= 701, "\(file.path) has \(lines.count) lines")
    }
  }

  @Test func sourcesAreFormatted() throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "swift", "format", "lint", "--strict", "--recursive", "--parallel", "Package.swift", "Sources", "Tests",
      "Examples",
    ]
    process.currentDirectoryURL = Project.root
    let output = Pipe()
    process.standardError = output
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "run `make format`:\n\(text.prefix(2000))")
  }
}
