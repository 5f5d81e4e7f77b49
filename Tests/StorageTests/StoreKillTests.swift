import Control
import Foundation
import TestSupport
import Testing

@testable import Storage

/// A process is killed at any moment while it writes to a store: what it acknowledged is there, and nothing is torn.
@Suite(.serialized) struct StoreKillTests {
  private let directory = TemporaryDirectory()

  /// `STORE_KILLS=10000 swift test --filter StoreKillTests` for a long run.
  private static let kills = ProcessInfo.processInfo.environment["STORE_KILLS"].flatMap(Int.init) ?? 200

  private static var probe: URL {
    URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "store-probe")
  }

  /// Kills the probe some time after it has acknowledged so many numbers; those that it acknowledged, the first of which it has
  /// found. None: it is killed while it opens the store, perhaps.
  private func run(_ store: String, until count: Int, for microseconds: UInt32) throws -> [UInt64] {
    let output = Pipe()
    let process = try SpawnedProcess(
      [Self.probe.path, store, directory.path], input: FileHandle.nullDevice.fileDescriptor,
      output: output.fileHandleForWriting.fileDescriptor, errors: FileHandle.nullDevice.fileDescriptor)
    try output.fileHandleForWriting.close()
    var said = Data()
    while said.count(where: { $0 == UInt8(ascii: "\n") }) < count {
      guard let byte = try output.fileHandleForReading.read(upToCount: 1) else { break }
      said += byte
    }
    usleep(microseconds)
    kill(process.identifier, SIGKILL)
    said += try output.fileHandleForReading.readToEnd() ?? Data()
    let status = process.wait()
    #expect(status & 0x7f == SIGKILL, "it ended by itself, with \(status >> 8)")
    // A line that the kill cut short was not acknowledged.
    let whole = String(decoding: said, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .dropLast()
    return whole.compactMap { UInt64($0) }
  }

  @Test func noEventThatWasAcknowledgedIsLost() throws {
    var generator = SystemRandomNumberGenerator()
    var known: UInt64 = 0
    var afterACommit = 0
    for number in 0..<Self.kills {
      // Long ones fill the log, which is then moved into the database.
      let count = number % 5 == 0 ? 0 : Int.random(in: 2...(number % 7 == 0 ? 60 : 6), using: &generator)
      let acknowledged = try run("events", until: count, for: .random(in: 0...10_000, using: &generator)).last ?? 0
      let store = try EventStore(folder: directory.path)
      #expect(store.lastSequence >= max(known, acknowledged))
      if acknowledged > known { afterACommit += 1 }
      // All since the last time, none of them torn.
      let events = try store.events(since: known, limit: .max)
      #expect(events.map(\.sequence) == (known..<store.lastSequence).map { $0 + 1 })
      #expect(events.allSatisfy { $0.detail == String(repeating: "\($0.sequence) ", count: Int($0.sequence % 19) + 1) })
      known = store.lastSequence
      // Nobody trims it here, and a full store takes nothing more.
      guard try store.database.integer("PRAGMA page_count") ?? 0 > 8000 else { continue }
      try expectWhole(store, count: known)
      for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) where name.hasPrefix("events") {
        try FileManager.default.removeItem(atPath: "\(directory.path)/\(name)")
      }
      known = 0
    }
    // Otherwise it was always killed too early to show anything.
    #expect(afterACommit > Self.kills / 4, "only \(afterACommit) of \(Self.kills) got as far as a commit")
    try expectWhole(EventStore(folder: directory.path), count: known)
  }

  private func expectWhole(_ store: EventStore, count: UInt64) throws {
    #expect(try store.database.integer("SELECT count(*) FROM events").map { UInt64($0) } == count)
    #expect(try store.database.integer("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") == 1)
  }

  @Test(arguments: ["pairs", "tokens", "clock", "proofs", "notify", "window"])
  func noFileThatWasAcknowledgedIsLost(store: String) throws {
    var generator = SystemRandomNumberGenerator()
    var known: UInt64 = 0
    var afterAWrite = 0
    for number in 0..<max(10, Self.kills / 10) {
      let numbers = try run(
        store, until: number % 10 == 9 ? 0 : .random(in: 2...5, using: &generator),
        for: .random(in: 0...5000, using: &generator))
      guard let found = numbers.first, let last = numbers.last else { continue }
      // The one that was being written when it was killed may be there.
      #expect((known...known + 1).contains(found))
      if last > found { afterAWrite += 1 }
      known = last
    }
    #expect(afterAWrite > 5)
  }

  /// What a power cut does to a disk that had not written all of the log: it ends anywhere, or in rubbish.
  @Test func aTornLogLosesOnlyItsEnd() throws {
    let store = try EventStore(folder: directory.path)
    var committed: [(bytes: Int, sequence: UInt64)] = []
    for number in UInt64(1)...60 {
      try store.append([EventDocument(sequence: number, kind: "light", time: 1, detail: "\(number)")])
      let size = try Data(contentsOf: URL(filePath: "\(directory.path)/events.db-wal")).count
      committed.append((size, number))
    }
    let database = try Data(contentsOf: URL(filePath: "\(directory.path)/events.db"))
    let log = try Data(contentsOf: URL(filePath: "\(directory.path)/events.db-wal"))
    var generator = SystemRandomNumberGenerator()
    for isRubbish in [false, true] {
      for _ in 0..<25 {
        let length = Int.random(in: 0...log.count, using: &generator)
        var torn = log.prefix(length)
        if isRubbish {
          torn += Data((length..<min(log.count, length + 9000)).map { UInt8(truncatingIfNeeded: $0 * 31) })
        }
        let copy = TemporaryDirectory()
        try database.write(to: URL(filePath: "\(copy.path)/events.db"))
        try torn.write(to: URL(filePath: "\(copy.path)/events.db-wal"))
        let reopened = try EventStore(folder: copy.path)
        let last = reopened.lastSequence
        #expect(last == committed.last { $0.bytes <= length }?.sequence ?? 0)
        #expect(try reopened.events(since: 0, limit: 100).map(\.sequence) == (0..<last).map { $0 + 1 })
      }
    }
  }
}
