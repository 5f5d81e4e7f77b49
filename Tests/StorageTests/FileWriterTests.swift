import Foundation
import Synchronization
import Testing

@testable import Storage

/// Small files written on a thread of their own.
@Suite struct FileWriterTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")

  private final class Log: Sendable {
    let lines = Mutex<[String]>([])
    func note(_ line: String) { lines.withLock { $0.append(line) } }
  }

  private func file(_ name: String, _ writer: FileWriter) throws -> AtomicFile {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return AtomicFile(path: folder.appending(path: name).path, writer: writer)
  }

  private func written(_ file: AtomicFile) async -> FileError? {
    await withCheckedContinuation { continuation in file.whenWritten { continuation.resume(returning: $0) } }
  }

  @Test func whatIsSaidToBeWrittenIsOnDisk() async throws {
    let writer = FileWriter { _ in }
    let (one, other) = (try file("one", writer), try file("other", writer))
    for number in 0..<200 {
      try one.replace(Array("\(number)".utf8))
      try other.replace([1])
    }
    #expect(await written(one) == nil)
    #expect(try one.read() == Array("199".utf8))
    #expect(await written(other) == nil)
    #expect(try other.read() == [1])
    // Nothing waits: at once.
    #expect(await written(one) == nil)
    writer.stop(within: .seconds(10))
    try FileManager.default.removeItem(at: folder)
  }

  @Test func stoppingWritesWhatWaits() throws {
    let writer = FileWriter { _ in }
    let files = try (0..<20).map { try file("f\($0)", writer) }
    for file in files { try file.replace(Array(file.path.utf8)) }
    writer.stop(within: .seconds(30))
    for file in files { #expect(try file.read() == Array(file.path.utf8)) }
    try FileManager.default.removeItem(at: folder)
  }

  /// Whoever waits hears of it, and the log once until it works again.
  @Test func aFileThatCannotBeWrittenIsSaid() async throws {
    let log = Log()
    let writer = FileWriter { log.note($0.operation) }
    let one = try file("one", writer)
    try one.replace([1])
    #expect(await written(one) == nil)
    try FileManager.default.removeItem(at: folder)
    for _ in 0..<3 {
      try one.replace([2])
      #expect(await written(one)?.code == ENOENT)
    }
    #expect(log.lines.withLock(\.self) == ["create"] || log.lines.withLock(\.count) == 1)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try one.replace([3])
    #expect(await written(one) == nil)
    #expect(try one.read() == [3])
    try FileManager.default.removeItem(at: folder)
  }
}
