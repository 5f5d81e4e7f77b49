import Foundation
import Synchronization
import TestSupport
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

  /// The newest content is what its owner goes by: it is written as soon as it can be, without being given again.
  @Test func whatCouldNotBeWrittenIsWrittenLater() async throws {
    let log = Log()
    let writer = FileWriter(retryMilliseconds: 20) {
      log.note($0)
    } report: { _ in
      log.note("failed")
    }
    let one = try file("one", writer)
    try FileManager.default.removeItem(at: folder)
    for number in UInt8(1)...3 {
      try one.replace([number])
      #expect(await written(one)?.code == ENOENT)
    }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for _ in 0..<1000 where try one.read() == nil { try await Task.sleep(for: .milliseconds(10)) }
    #expect(try one.read() == [3])
    #expect(await written(one) == nil)
    // Once more at the end, whatever the time.
    try FileManager.default.removeItem(at: folder)
    let slow = FileWriter(retryMilliseconds: 600_000) { _ in }
    let other = try file("other", slow)
    try FileManager.default.removeItem(at: folder)
    try other.replace([4])
    #expect(await written(other) != nil)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    slow.stop(within: .seconds(10))
    #expect(try other.read() == [4])
    #expect(log.lines.withLock(\.self) == ["failed", one.path])
    try FileManager.default.removeItem(at: folder)
  }

  /// A stolen phone on a full disk: what removes it has room.
  @Test(.enabled(if: Mounts.arePossible, "mounts a file system")) func aRemovalHasRoomOnAFullDisk() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try #require(mount("tmpfs", folder.path, "tmpfs", 0, "size=256k,mode=700") == 0)
    defer {
      umount2(folder.path, Int32(MNT_DETACH))
      try? FileManager.default.removeItem(at: folder)
    }
    let writer = FileWriter { _ in }
    let directory = try StateDirectory(path: folder.path, writer: writer)
    let pairs = directory.pairs
    try pairs.replace([UInt8](repeating: 1, count: 30_000))
    #expect(await written(pairs) == nil)
    let fill = open(folder.appending(path: "fill").path, O_WRONLY | O_CREAT, 0o600)
    let block = [UInt8](repeating: 0, count: 4096)
    while write(fill, block, block.count) > 0 {}
    close(fill)
    try pairs.replace([UInt8](repeating: 2, count: 30_100))
    #expect(await written(pairs)?.code == ENOSPC)
    for number in UInt8(3)...5 {
      try pairs.replace([UInt8](repeating: number, count: 29_000), removes: true)
      #expect(await written(pairs) == nil)
      #expect(try pairs.read() == [UInt8](repeating: number, count: 29_000))
    }
    #expect(try StateDirectory.names(in: folder.path).sorted() == ["fill", "lock", "pairs.json", "reserve"])
    writer.stop(within: .seconds(10))
  }

  /// Something else takes what the reserve has freed: less has to do, and there is all of it once there is room.
  @Test(.enabled(if: Mounts.arePossible, "mounts a file system")) func whatWasUsedOfTheReserveComesBack() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try #require(mount("tmpfs", folder.path, "tmpfs", 0, "size=512k,mode=700") == 0)
    defer {
      umount2(folder.path, Int32(MNT_DETACH))
      try? FileManager.default.removeItem(at: folder)
    }
    let writer = FileWriter { _ in }
    let directory = try StateDirectory(path: folder.path, writer: writer)
    let reserve = folder.appending(path: "reserve").path
    func size() -> Int? { (try? Data(contentsOf: URL(filePath: reserve)))?.count }
    #expect(size() == 65_536)
    func fill() {
      let fill = open(folder.appending(path: "fill").path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
      let block = [UInt8](repeating: 0, count: 4096)
      while write(fill, block, block.count) > 0 {}
      close(fill)
    }
    fill()
    // As when the events' log takes what there is.
    unlink(reserve)
    try #require(truncate(folder.appending(path: "fill").path, 380_000) == 0)
    try directory.pairs.replace([UInt8](repeating: 1, count: 1000), removes: true)
    #expect(await written(directory.pairs) == nil)
    #expect(size().map { $0 >= 8192 && $0 < 131_072 } == true, "\(size() ?? -1)")
    unlink(reserve)
    fill()
    try #require(truncate(folder.appending(path: "fill").path, 480_000) == 0)
    for number in UInt8(2)...4 {
      try directory.pairs.replace([UInt8](repeating: number, count: 1000), removes: true)
      #expect(await written(directory.pairs) == nil)
      #expect(size().map { $0 >= 8192 } == true, "\(size() ?? -1)")
      fill()
    }
    unlink(folder.appending(path: "fill").path)
    try directory.tokens.replace([9])
    #expect(await written(directory.tokens) == nil)
    #expect(size() == 65_536)
    writer.stop(within: .seconds(10))
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
