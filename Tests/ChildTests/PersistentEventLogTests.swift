import Control
import Foundation
import Logging
import NIOCore
import NIOPosix
import NightReport
import Pairing
import Storage
import Testing

@testable import Child

/// The child's event log over a real event store.
@Suite struct PersistentEventLogTests {
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-log-\(UUID().uuidString)")
  private var loop: any EventLoop { group.any() }

  /// One run of a child.
  private func run<Value: Sendable>(
    _ body: @escaping @Sendable (PersistentEventLog) throws -> EventLoopFuture<Value>
  ) throws -> Value {
    let directory = try StateDirectory(path: folder.path)
    let loop = loop
    let log = try loop.submit {
      NIOLoopBound(
        PersistentEventLog(
          in: directory, loop: loop, date: { UnixTime(seconds: Int64(Date().timeIntervalSince1970)) },
          logger: Logger(label: "test")), eventLoop: loop)
    }.wait()
    let value = try loop.flatSubmit { () -> EventLoopFuture<Value> in
      do {
        return try body(log.value)
      } catch {
        return loop.makeFailedFuture(error)
      }
    }.wait()
    try loop.submit { log.value.close() }.wait()
    return value
  }

  private func remove() { try? FileManager.default.removeItem(at: folder) }

  @Test func whatIsNotYetOnTheDiskIsToldAllTheSame() throws {
    defer { remove() }
    let sequences = try run { log in
      for _ in 0..<5 { _ = log.append(.light, time: 1, name: nil, id: nil, detail: nil) }
      return log.events(since: 2, limit: nil, level: nil).map { $0.map(\.sequence) }
    }
    #expect(sequences == [3, 4, 5])
    let after = try run { log in
      _ = log.append(.restart, time: 2, name: nil, id: nil, detail: nil)
      return log.events(since: nil, limit: 3, level: nil).map { $0.map(\.sequence) }
    }
    #expect(after == [4, 5, 6])
  }

  /// More than the memory holds.
  @Test func allOfThemAreTold() throws {
    defer { remove() }
    _ = try run { log in
      for number in 0..<2000 {
        _ = log.append(.light, time: Double(number), name: "\(number % 3)", id: nil, detail: nil)
        if number % 200 == 0 { log.saveNow() }
      }
      return log.events(since: nil, limit: 1, level: nil)
    }
    let all = try run { [loop] log in
      let pieces = (0..<10).map { log.events(since: UInt64($0 * 200), limit: 200, level: nil) }
      return EventLoopFuture.whenAllSucceed(pieces, on: loop).map { $0.flatMap { $0.map(\.sequence) } }
    }
    #expect(all == Array(1...2000))
  }

  @Test func anAlarmIsOnTheDiskAtOnce() throws {
    defer { remove() }
    let stored = try run { log in
      _ = log.append(.light, time: 1, name: nil, id: nil, detail: nil)
      _ = log.append(.cameraLost, time: 2, name: nil, id: "cot", detail: nil)
      // Behind the commit in the thread's queue.
      return log.report(ReportGet(from: 0, to: 60), now: 120)
    }
    #expect(stored.losses.map(\.device) == ["camera"])
  }

  @Test func aReportIsOfWhatIsKnownNow() throws {
    defer { remove() }
    let report = try run { log in
      log.append(MinuteRecord(minute: 0, isDelivered: true, peak: -100, mean: -500, listeners: ["Ada"]))
      log.append(MinuteRecord(minute: 1, isDelivered: true, peak: -600, mean: -600, listeners: []))
      return log.report(ReportGet(from: 0, to: 120), now: 120)
    }
    #expect(report.monitoredMinutes == 1 && report.recordedMinutes == 2 && report.noise.minutes == 1)
  }

  /// The child runs on, and says in its log what is wrong.
  @Test func withoutAStoreEventsAreKeptInMemory() throws {
    defer { remove() }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    _ = FileManager.default.createFile(atPath: folder.appending(path: "events").path, contents: nil)
    let kinds = try run { log in
      _ = log.append(.cameraLost, time: 1, name: nil, id: nil, detail: nil)
      log.append(MinuteRecord(minute: 0, isDelivered: true, peak: nil, mean: nil, listeners: []))
      log.saveWhenDue()
      return log.events(since: nil, limit: nil, level: .warning).map { $0.map(\.kind) }
    }
    #expect(kinds == ["camera-lost"])
    #expect(throws: ControlError.self) {
      try run { log in log.report(ReportGet(from: 0, to: 60), now: 60) }
    }
  }
}
