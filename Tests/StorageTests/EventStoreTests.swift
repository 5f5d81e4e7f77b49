import Control
import Foundation
import NightReport
import Testing

@testable import Storage

@Suite struct EventStoreTests {
  private let directory = TemporaryDirectory()

  private let events = [
    EventDocument(sequence: 7, kind: "restart", level: "notice", time: 1_795_291_200.5),
    EventDocument(
      sequence: 8, kind: "alarm", level: "alarm", time: 1_795_291_201, name: "Ada", id: "link",
      detail: "pulled \"out\"",
      began: 1_795_291_100.25, acknowledgedAt: 1_795_291_150),
    EventDocument(
      sequence: 9, kind: "viewer-left", level: "notice", time: 1_795_291_300, name: "Sitter", detail: "left",
      began: 1_795_291_202, count: 17),
  ]

  private func filled(_ count: UInt64, kind: String = "light") throws -> EventStore {
    let store = try EventStore(folder: directory.path)
    try store.append((1...count).map { EventDocument(sequence: $0, kind: kind, time: Double($0)) })
    return store
  }

  @Test func whatWasAppendedIsThereAgain() throws {
    do {
      let store = try EventStore(folder: directory.path)
      #expect(store.lastSequence == 0)
      try store.append(events)
      #expect(store.lastSequence == 9)
    }
    let store = try EventStore(folder: directory.path)
    #expect(try store.events(since: nil, limit: 9) == events)
    #expect(store.lastSequence == 9)
    for name in ["events.db", "events.db-wal"] {
      #expect(AtomicFile(path: "\(directory.path)/\(name)").currentMode() == 0o600)
    }
  }

  /// As programs made it that did not count.
  @Test func aStoreWithoutCountsGetsThem() throws {
    do {
      let store = try EventStore(folder: directory.path)
      try store.append(events.prefix(2))
      try store.database.execute("ALTER TABLE events DROP COLUMN count")
    }
    let store = try EventStore(folder: directory.path)
    try store.append(events.suffix(1))
    #expect(try store.events(since: nil, limit: 9) == events)
  }

  @Test func askingOnFromTheLastOneBringsAll() throws {
    let store = try filled(100)
    var seen: [UInt64] = []
    while case let found = try store.events(since: seen.last ?? 0, limit: 7), !found.isEmpty {
      seen += found.map(\.sequence)
    }
    #expect(seen == Array(1...100))
    #expect(try store.events(since: nil, limit: 3).map(\.sequence) == [98, 99, 100])
  }

  @Test func graverOnesCanBeAskedForAlone() throws {
    let store = try EventStore(folder: directory.path)
    try store.append([
      EventDocument(sequence: 1, kind: "light", level: "notice", time: 1),
      EventDocument(sequence: 2, kind: "speaker-lost", level: "warning", time: 2),
      EventDocument(sequence: 3, kind: "camera-lost", level: "alarm", time: 3),
      EventDocument(sequence: 4, kind: "of an earlier version", time: 4),
    ])
    #expect(try store.events(since: nil, limit: 9, level: .notice).count == 4)
    #expect(try store.events(since: nil, limit: 9, level: .warning).map(\.sequence) == [2, 3])
    #expect(try store.events(since: 2, limit: 9, level: .alarm).map(\.sequence) == [3])
  }

  /// The answer to a commit may get lost; the events come again then.
  @Test func theSameEventTwiceIsOne() throws {
    let store = try filled(3)
    try store.append((2...5).map { EventDocument(sequence: $0, kind: "other", time: 9) })
    #expect(try store.events(since: nil, limit: 9).map(\.kind) == ["light", "light", "light", "other", "other"])
  }

  @Test func twoHalvesOfAMinuteAreOne() throws {
    let store = try EventStore(folder: directory.path)
    try store.append(
      [EventDocument](),
      minutes: [MinuteRecord(minute: 10, isDelivered: true, peak: -400, mean: -600, listeners: ["Ada"])])
    try store.append(
      [EventDocument](),
      minutes: [
        MinuteRecord(minute: 10, isDelivered: false, peak: -300, mean: nil, listeners: ["Ben"]),
        MinuteRecord(minute: 11, isDelivered: true, peak: -700, mean: -800, listeners: []),
      ])
    let report = try store.report(from: 600, to: 720, now: 9999, noiseDb: -45)
    #expect(report.minutes == 2 && report.recordedMinutes == 2)
    #expect(report.parents.map(\.name) == ["Ada", "Ben"])
    #expect(report.timeline?.levels == [-1, 70])
  }

  @Test func eventsOfAnEarlierVersionAreCarriedOverOnce() throws {
    let old = "\(directory.path)/events.json"
    try AtomicFile(path: old).write(
      Array(
        """
        {"events":[{"detail":"pulled \\"out\\"","id":"cot","kind":"camera-lost","name":"Ada","sequence":8,
          "time":1795291201}],"version":1}
        """.utf8))
    do {
      let opening = try EventStore.open(folder: directory.path)
      #expect(opening.carriedOver == 1 && opening.warnings.isEmpty)
      #expect(try opening.store.events(since: nil, limit: 9).map(\.name) == ["Ada"])
      #expect(opening.store.lastSequence == 8)
    }
    #expect(directory.names().contains("events.json.carried-over"))
    #expect(!directory.names().contains("events.json"))
    let again = try EventStore.open(folder: directory.path)
    #expect(again.carriedOver == 0)
    #expect(try again.store.events(since: nil, limit: 9).count == 1)
  }

  /// The power was cut after the events were stored and before the old file was renamed.
  @Test func carryingOverAgainChangesNothing() throws {
    let text = Array(#"{"events":[{"kind":"light","sequence":8,"time":1}],"version":1}"#.utf8)
    try AtomicFile(path: "\(directory.path)/events.json").write(text)
    _ = try EventStore.open(folder: directory.path)
    try AtomicFile(path: "\(directory.path)/events.json").write(text)
    let again = try EventStore.open(folder: directory.path)
    #expect(try again.store.events(since: nil, limit: 9).count == 1)
  }

  @Test func anOldFileThatCannotBeReadStaysAndIsNamed() throws {
    try AtomicFile(path: "\(directory.path)/events.json").write(Array("{".utf8))
    let opening = try EventStore.open(folder: directory.path)
    #expect(opening.warnings.first?.contains("events.json") == true)
    #expect(directory.names().contains("events.json"))
    try opening.store.append(events)
  }

  /// Nobody's night depends on the diary, and none of it is lost.
  @Test func aDamagedStoreIsMovedAsideAndNamed() throws {
    for (number, rubbish) in ["no database", String(repeating: "x", count: 9000)].enumerated() {
      let aside = "\(directory.path)/events.db.unreadable" + (number == 0 ? "" : "-\(number + 1)")
      try AtomicFile(path: "\(directory.path)/events.db").write(Array(rubbish.utf8))
      unlink("\(directory.path)/events.db-wal")
      let opening = try EventStore.open(folder: directory.path)
      #expect(opening.warnings.first?.contains(aside) == true)
      #expect(try AtomicFile(path: aside).read() == Array(rubbish.utf8))
      try opening.store.append(events)
      #expect(try opening.store.events(since: nil, limit: 9) == events)
    }
  }

  @Test func aStoreOfANewerVersionIsLeftAlone() throws {
    do {
      let store = try filled(3)
      try store.database.execute("PRAGMA user_version = 2")
    }
    #expect(throws: StoreError.newerVersion(path: "\(directory.path)/events.db", found: 2, supported: 1)) {
      try EventStore.open(folder: directory.path)
    }
    #expect(directory.names().filter { $0.contains("unreadable") }.isEmpty)
  }

  @Test func aLinkIsNotFollowed() throws {
    let elsewhere = TemporaryDirectory()
    try FileManager.default.createSymbolicLink(
      atPath: "\(directory.path)/events.db", withDestinationPath: "\(elsewhere.path)/diary")
    #expect(throws: StoreError.self) { try EventStore.open(folder: directory.path) }
    #expect(elsewhere.names().isEmpty)
  }

  // MARK: Bounds

  @Test func whatIsOlderThanAYearGoes() throws {
    let store = try EventStore(folder: directory.path)
    let now = 1_795_291_200.0
    let year = 366.0 * 86_400
    try store.append(
      [
        EventDocument(sequence: 1, kind: "light", time: now - year - 1),
        EventDocument(sequence: 2, kind: "light", time: now - year + 1),
      ],
      minutes: [now - year - 61, now].map { time in
        MinuteRecord(minute: Int64(time / 60), isDelivered: true, peak: -1, mean: -1, listeners: [])
      })
    try store.trim(now: now)
    #expect(try store.events(since: nil, limit: 9).map(\.sequence) == [2])
    #expect(try store.database.integer("SELECT count(*) FROM minutes") == 1)
    // The last one stays, so that numbers go on.
    try store.trim(now: now + 9 * year)
    #expect(try store.events(since: nil, limit: 9).map(\.sequence) == [2])
  }

  /// One viewer's orders push out nothing but themselves.
  @Test func aFullStoreMakesRoomWhereThereIsMost() throws {
    var limits = EventStoreLimits()
    limits.bytes = 1 << 20
    let store = try EventStore(folder: directory.path, limits: limits)
    try store.append([EventDocument(sequence: 1, kind: "camera-lost", level: "alarm", time: 1, id: "cot")])
    var sequence: UInt64 = 1
    for _ in 0..<40 {
      try store.append(
        (1...500).map { number in
          EventDocument(sequence: sequence + number, kind: "light", time: 2, name: "guest", detail: "on and on and on")
        })
      sequence += 500
      try store.trim(now: 3)
    }
    let kept = try store.events(since: 0, limit: .max)
    #expect(kept.first?.kind == "camera-lost" && kept.last?.sequence == sequence)
    #expect(kept.count > 1000 && kept.count < 20_000)
    let bytes = directory.names().reduce(0) { total, name in
      total + ((try? Data(contentsOf: URL(filePath: "\(directory.path)/\(name)")).count) ?? 0)
    }
    #expect(bytes < (1 << 20) + (5 << 20))
  }

  /// Without trimming in time, a commit fails as on a full disk, and all that was there stays.
  @Test func whatDoesNotFitIsRefusedAsAWhole() throws {
    var limits = EventStoreLimits()
    limits.bytes = 64 * 4096
    let store = try EventStore(folder: directory.path, limits: limits)
    try store.append(events)
    let many = (10...9000).map { EventDocument(sequence: $0, kind: "light", time: 2, detail: "on and on and on") }
    #expect {
      try store.append(many)
    } throws: { error in
      "\(error)".contains("No space left on device")
    }
    #expect(try store.events(since: nil, limit: 99) == events)
    #expect(store.lastSequence == 9)
    try store.append([EventDocument(sequence: 10, kind: "light", time: 2)])
  }
}
