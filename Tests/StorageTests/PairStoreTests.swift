import Foundation
import Pairing
import Testing
import Wire

@testable import Storage

@Suite struct PairStoreTests {
  private let directory = TemporaryDirectory()
  private var file: AtomicFile { AtomicFile(path: "\(directory.path)/pairs.json") }
  private static let now = UnixTime(seconds: 1_700_000_000)

  // Ids that belong to keys of 91 bytes of 1, 2, 3 and 4.
  private static let ids = ["614e82506390a420", "5b8942f7b018c4db", "80983dc2185cd248", "a73eb3da02de00d7"]

  private static func record(_ number: Int, name: String? = nil, role: PairRecord.Role = .parent) -> PairRecord {
    PairRecord(
      id: ids[number - 1], name: name ?? "Pair \(number)", role: role,
      publicKey: Array(repeating: UInt8(number), count: 91), permissions: [.view, .listen], createdAt: now)
  }

  @Test func pairSeenExpiredStaysExpiredAfterAReload() throws {
    var store = try PairStore(file: file)
    var guest = Self.record(2)
    guest.expiresAt = UnixTime(seconds: Self.now.seconds + 3600)
    try store.add(Self.record(1))
    try store.add(guest)
    #expect(store.markExpired(at: Self.now, madeSince: Self.now).isEmpty && !store.hasUnsavedNotes)
    let end = UnixTime(seconds: Self.now.seconds + 3600)
    // A date far ahead may be wrong: what was made before it is not marked.
    #expect(store.markExpired(at: end, madeSince: end).isEmpty && !store.hasUnsavedNotes)
    #expect(store.markExpired(at: end, madeSince: Self.now).map(\.id) == [guest.id])
    try store.saveNotes()
    let again = try PairStore(file: file).book.records
    #expect(again.map(\.hasExpired) == [false, true])
    #expect(again[1].isExpired(at: Self.now) && again[1].expiresAt == guest.expiresAt)
  }

  @Test func whatAwaitsItsConfirmationDoesSoAfterAReload() throws {
    var store = try PairStore(file: file)
    var begun = Self.record(1)
    begun.awaitsConfirmation = true
    try store.add(begun)
    #expect(try PairStore(file: file).book.records == [begun])
    try store.confirm(id: begun.id, date: Self.now)
    #expect(try PairStore(file: file).book.records.map(\.isCompleted) == [true])
    #expect(throws: StoreError.unknownName("x")) { try store.confirm(id: "x", date: Self.now) }
  }

  @Test func pairsAreThereAfterAReload() throws {
    var store = try PairStore(file: file)
    #expect(store.book.records.isEmpty)
    var guest = Self.record(2, name: "Großmutter 👵")
    guest.expiresAt = UnixTime(seconds: Self.now.seconds + 3600)
    guest.lastSeenAt = Self.now
    try store.add(Self.record(1))
    try store.add(guest)
    #expect(try PairStore(file: file).book == store.book)
    #expect(try PairStore(file: file).book.records == [Self.record(1), guest])
    #expect(file.currentMode() == 0o600)
    try store.revoke(id: Self.ids[0])
    #expect(try PairStore(file: file).book.records == [guest])
    #expect(throws: StoreError.unknownName("x")) { try store.revoke(id: "x") }
    try store.revoke(id: Self.ids[1])
    #expect(try PairStore(file: file).book.records.isEmpty)
  }

  @Test func formIsAsDocumented() throws {
    var store = try PairStore(file: file)
    try store.add(Self.record(1))
    let text = String(decoding: try #require(try file.read()), as: UTF8.self)
    let key = Base64URL.encode(Array(repeating: 1, count: 91))
    let expected = """
      {
        "pairs" : [
          {
            "createdAt" : "2023-11-14T22:13:20Z",
            "id" : "\(Self.ids[0])",
            "name" : "Pair 1",
            "permissions" : [
              "view",
              "listen"
            ],
            "publicKey" : "\(key)",
            "role" : "parent"
          }
        ],
        "version" : 1
      }

      """
    #expect(text == expected)
  }

  @Test func addressOfAChildIsKept() throws {
    var store = try PairStore(file: file)
    try store.add(Self.record(1, role: .child))
    let before = try file.read()
    let address = KnownAddress(
      host: "nursery.local", addresses: [IPAddress("192.0.2.7")!, IPAddress("2001:db8::1")!], port: 8443)
    store.touch(id: Self.ids[0], date: Self.now, address: address)
    #expect(store.hasUnsavedNotes)
    #expect(try file.read() == before)
    try store.saveNotes()
    #expect(!store.hasUnsavedNotes)
    let again = try #require(try PairStore(file: file).book.records.first)
    #expect(again.lastAddress == address)
    #expect(again.lastSeenAt == Self.now)
    store.touch(id: "unknown", date: Self.now)
    #expect(!store.hasUnsavedNotes)
  }

  @Test func datesAtTheEndsAreReadBack() throws {
    var store = try PairStore(file: file)
    for (number, seconds) in [Int64.min, 0, 951_782_400, .max].enumerated() {
      var record = Self.record(number + 1)
      record.expiresAt = UnixTime(seconds: seconds)
      try store.add(record)
    }
    #expect(try PairStore(file: file).book == store.book)
  }

  @Test func failedSaveChangesNothing() throws {
    var store = try PairStore(file: AtomicFile(path: "\(directory.path)/missing/pairs.json"))
    #expect(throws: StoreError.self) { try store.add(Self.record(1)) }
    #expect(store.book.records.isEmpty)
  }

  // MARK: - Faults

  private static let steps: [AtomicFile.Step] = [
    .createTemporary, .write(offset: 0), .write(offset: 4096), .syncFile, .rename, .syncDirectory,
  ]

  /// A store that takes more than one piece to write.
  private func filledStore() throws -> PairStore {
    var store = try PairStore(file: file)
    var large = Self.record(1)
    large.lastAddress = KnownAddress(host: String(repeating: "h", count: 5000), addresses: [], port: 1)
    try store.add(large)
    try store.add(Self.record(2))
    return store
  }

  @Test(arguments: steps)
  func failedStepNeverLosesAPair(step: AtomicFile.Step) throws {
    for fault in [AtomicFile.Fault.fails(ENOSPC), .powerCut] {
      var store = try filledStore()
      let before = store.book
      #expect(throws: StoreError.self) {
        try AtomicFile.$injectedFault.withValue({ $0 == step ? fault : nil }) { try store.add(Self.record(3)) }
      }
      #expect(store.book == before)
      let again = try PairStore(file: file).book.records.map(\.id)
      #expect(again.starts(with: Self.ids[..<2]), "\(step)")
      #expect(again.count == (step == .syncDirectory ? 3 : 2))
      // The next try goes through.
      try store.add(Self.record(3))
      #expect(try PairStore(file: file).book.records.map(\.id) == Array(Self.ids[..<3]))
      for id in Self.ids[..<3] { try store.revoke(id: id) }
    }
  }

  #if compiler(>=6.3)
    /// The process itself ends at the step, as by a power cut or the kernel's OOM killer.
    @Test(arguments: 0..<6)
    func killedProcessNeverLosesAPair(step: Int) async throws {
      _ = try filledStore()
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = file.path as String, step] in
        var store = try PairStore(file: AtomicFile(path: path))
        let fatal = PairStoreTests.steps[step]
        try AtomicFile.$injectedFault.withValue({ reached in
          if reached == fatal { kill(getpid(), SIGKILL) }
          return nil
        }) { try store.add(PairStoreTests.record(3)) }
      }
      let kept = try PairStore(file: file).book.records.map(\.id)
      #expect(kept == Array(Self.ids[..<(Self.steps[step] == .syncDirectory ? 3 : 2)]))
      var store = try PairStore(file: file)
      try store.add(Self.record(4))
      #expect(try PairStore(file: file).book.records.last?.id == Self.ids[3])
      #expect(directory.names() == ["pairs.json"])
    }
  #endif

  // MARK: - Damage

  @Test func halfWrittenStoreIsReportedByByteAndKept() throws {
    var store = try PairStore(file: file)
    try store.add(Self.record(1))
    let whole = try #require(try file.read())
    for count in stride(from: 0, to: whole.count - 2, by: 7) {
      try file.write(Array(whole[..<count]))
      #expect(throws: StoreError.damaged(path: file.path, offset: count, reason: "it ends in the middle")) {
        _ = try PairStore(file: file)
      }
      #expect(try file.read() == Array(whole[..<count]))
    }
  }

  @Test func newerVersionIsReportedAndKept() throws {
    let bytes = Array(#"{"version":2,"pairs":"in a new form"}"#.utf8)
    try file.write(bytes)
    #expect(throws: StoreError.newerVersion(path: file.path, found: 2, supported: 1)) {
      _ = try PairStore(file: file)
    }
    #expect(try file.read() == bytes)
  }

  @Test func impossibleValuesAreReportedByTheirPlaceAndKept() throws {
    var store = try PairStore(file: file)
    try store.add(Self.record(1))
    let text = String(decoding: try #require(try file.read()), as: UTF8.self)
    let key = Base64URL.encode(Array(repeating: 1, count: 91))
    for (old, new, place) in [
      (Self.ids[0], Self.ids[1], "pairs[0].id has an impossible value"),
      (key, String(key.dropLast(4)), "pairs[0].publicKey has an impossible value"),
      (key, Base64URL.encode(Array(repeating: 2, count: 91)), "pairs[0].id has an impossible value"),
      ("\"parent\"", "\"cat\"", "pairs[0].role has an impossible value"),
      ("\"view\"", "\"all\"", "pairs[0].permissions has an impossible value"),
      ("\"Pair 1\"", "1", "pairs[0].name has the wrong type"),
      ("2023-11-14T22:13:20Z", "yesterday", "pairs[0].createdAt has an impossible value"),
      ("\"createdAt\"", "\"created\"", "pairs[0].createdAt is missing"),
    ] {
      let bytes = Array(text.replacing(old, with: new).utf8)
      try file.write(bytes)
      do throws(StoreError) {
        _ = try PairStore(file: file)
        Issue.record("accepted \(new)")
      } catch {
        #expect("\(error)".contains(place), "\(error)")
      }
      #expect(try file.read() == bytes)
    }
  }

  @Test func namesInTheFileAreCleaned() throws {
    var store = try PairStore(file: file)
    try store.add(Self.record(1))
    let text = String(decoding: try #require(try file.read()), as: UTF8.self)
    try file.write(Array(text.replacing("Pair 1", with: "Pair\\n\\u001b1").utf8))
    #expect(try PairStore(file: file).book.records.map(\.name) == ["Pair 1"])
    try file.write(Array(text.replacing("Pair 1", with: "\\u0007").utf8))
    #expect(try PairStore(file: file).book.records.map(\.name) == [Self.ids[0]])
  }

  @Test func onePairTwiceIsDamage() throws {
    var store = try PairStore(file: file)
    try store.add(Self.record(1))
    let text = String(decoding: try #require(try file.read()), as: UTF8.self)
    let start = try #require(text.firstRange(of: "{\n      ")?.lowerBound)
    let end = try #require(text.lastIndex(of: "]"))
    let twice = text[..<end].dropLast() + "," + text[start..<end] + text[end...]
    try file.write(Array(twice.utf8))
    #expect {
      _ = try PairStore(file: file)
    } throws: { error in
      "\(error)".contains("one id twice")
    }
  }
}
