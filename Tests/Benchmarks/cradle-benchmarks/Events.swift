import ArgumentParser
import Control
import Foundation
import NightReport
import Storage

/// What the event store costs: appending, and the report of a night and of a year.
struct Events: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Appends events to a store on this machine's disk, fills a year, and says how long appending and reports took.")

  @Option(help: "Where the store is made; it is removed afterwards.")
  var folder = NSTemporaryDirectory()
  @Option(help: "How many events.")
  var count = 100_000
  @Option(help: "Events in a commit, as the child makes them.")
  var batch = 256
  @Option(help: "Commits of a single event, as for an alarm.")
  var alarms = 200
  @Option(help: "How many reports of each kind.")
  var reports = 11

  private struct Report: Encodable {
    /// Each batch is synced to the disk.
    var appendedPerSecond: Double
    var batch: Int
    /// A commit of one event, each.
    var alarmMilliseconds: [Double]
    var nightMilliseconds: [Double]
    var yearMilliseconds: [Double]
    /// The latest 50 of a full store.
    var eventsMilliseconds: [Double]
    var yearBytes: Int
    var yearMinutes: Int
    var yearEvents: Int
  }

  func run() async throws {
    let path = "\(folder)/cradle-events-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let clock = ContinuousClock()
    let begin: Int64 = 1_763_856_000

    let appended = try fill(path + "/append") { store in
      try clock.measure {
        var sequence: UInt64 = 1
        while sequence <= UInt64(count) {
          let last = min(sequence + UInt64(batch), UInt64(count) + 1)
          try store.append((sequence..<last).map { event($0, at: begin + Int64($0)) })
          sequence = last
        }
      }
    }
    let single = try fill(path + "/alarms") { store in
      try (1...UInt64(max(1, alarms))).map { sequence in
        try clock.measure { try store.append([event(sequence, at: begin)]) } / .milliseconds(1)
      }
    }

    var bytes = 0
    let minutes = 365 * 1440
    // A restless household: an event every ten minutes.
    let events = minutes / 10
    let year = try fill(path + "/year") { store in
      for day in 0..<365 {
        let first = begin / 60 + Int64(day * 1440)
        let happened: [EventDocument] = (0..<144).map { number in
          let time = (first + Int64(number) * 10) * 60
          return event(UInt64(day * 144 + number + 1), at: time)
        }
        let passed: [MinuteRecord] = (0..<Int64(1440)).map { minute(first + $0) }
        try store.append(happened, minutes: passed)
      }
      bytes = (try? FileManager.default.attributesOfItem(atPath: store.path)[.size] as? Int) ?? 0
      let end = begin + Int64(minutes) * 60
      func times(_ body: () throws -> Void) throws -> [Double] {
        var times: [Double] = []
        for _ in 0..<max(1, self.reports) {
          let time: Duration = try clock.measure(body)
          times.append(time / .milliseconds(1))
        }
        return times
      }
      func reports(_ from: Int64) throws -> [Double] {
        try times {
          let report = try store.report(from: from, to: end, now: end, noiseDb: -45)
          guard report.recordedMinutes == Int((end - from) / 60) else { throw ExitCode.failure }
        }
      }
      let latest = try times { _ = try store.events(since: nil, limit: 50) }
      return (night: try reports(end - 16 * 3600), year: try reports(begin), latest: latest)
    }
    let appendingSeconds: Double = appended / .seconds(1)
    try printJSON(
      Report(
        appendedPerSecond: (Double(count) / appendingSeconds).rounded(), batch: batch,
        alarmMilliseconds: single,
        nightMilliseconds: year.night, yearMilliseconds: year.year, eventsMilliseconds: year.latest, yearBytes: bytes,
        yearMinutes: minutes, yearEvents: events))
  }

  private func fill<Value>(_ path: String, _ body: (EventStore) throws -> Value) throws -> Value {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return try body(EventStore(folder: path))
  }

  /// A kind in ten is one that reports read.
  private func event(_ sequence: UInt64, at time: Int64) -> EventDocument {
    let kinds = [
      "light", "lullaby", "viewer-joined", "viewer-left", "talk", "light", "light", "night", "light", "light",
    ]
    return EventDocument(
      sequence: sequence, kind: kinds[Int(sequence % 10)], level: "notice", time: Double(time), name: "mother",
      id: "nightlight", detail: "on")
  }

  private func minute(_ minute: Int64) -> MinuteRecord {
    // Two parents by turns, with gaps.
    let sets = [["mother"], ["father", "mother"], ["father"], []]
    return MinuteRecord(
      minute: minute, isDelivered: minute % 500 != 0, peak: Int16(-300 - minute % 400), mean: -600,
      listeners: sets[Int(minute / 45 % 4)])
  }
}
