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

  /// A closure that is the whole value of a generic container is wrapped once more each time that it is read through it (Swift 6.3,
  /// optimized or not): calls become slower and slower, and after some 10^5 the end of it overflows the stack. In a struct, a
  /// class or a parameter it is not.
  @Test func noMutexHoldsABareClosure() throws {
    for file in try Project.swiftFiles(below: "Sources") {
      for line in file.code where line.text.contains(#/(Mutex|NIOLockedValueBox|ManagedAtomic)<[^>]*->/#) {
        Issue.record("\(file.path):\(line.number): \(line.text)")
      }
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
