import Pairing
import Testing
import Wire

@Suite struct PairBookTests {
  private let now = UnixTime(seconds: 1_800_000_000)

  private func record(_ number: Int, name: String? = nil, expiresAt: UnixTime? = nil) -> PairRecord {
    PairRecord(
      id: "id\(number)", name: name ?? "Parent \(number)", role: .parent,
      publicKey: Array(repeating: UInt8(truncatingIfNeeded: number), count: 91), permissions: .all, createdAt: now,
      expiresAt: expiresAt)
  }

  @Test func sameKeyReplacesTheOlderPair() throws {
    var book = try #require(PairBook())
    try book.add(record(1, name: "Old"), date: now)
    try book.add(record(2), date: now)
    try book.add(record(1, name: "New"), date: now)
    #expect(book.records.map(\.name) == ["Parent 2", "New"])
  }

  @Test func pairsAreFoundByIdThenNameThenNameInAnyCase() throws {
    var book = try #require(PairBook())
    for (number, name) in ["Kitchen", "Kitchen", "nursery", "Nursery", "id1"].enumerated() {
      try book.add(record(number + 1, name: name), date: now)
    }
    #expect(book.find("id1") == .found(book.records[0]))
    #expect(book.find("Kitchen") == .ambiguous([book.records[0], book.records[1]]))
    #expect(book.find("kitchen") == .ambiguous([book.records[0], book.records[1]]))
    #expect(book.find("Nursery") == .found(book.records[3]))
    #expect(book.find("NURSERY") == .ambiguous([book.records[2], book.records[3]]))
    #expect(book.find("") == .none)
    #expect(book.find("Kit") == .none)
  }

  @Test func theFirstDigitsOfAnIDAreEnough() throws {
    var book = try #require(PairBook())
    for (id, name) in [("a1b2c3d4e5f60718", "Cot"), ("a1b2ffffffffffff", "Cot"), ("0123456789abcdef", "a1b2")] {
      try book.add(
        PairRecord(
          id: id, name: name, role: .child, publicKey: Array(id.utf8), permissions: .all, createdAt: now), date: now)
    }
    #expect(book.find("0123") == .found(book.records[2]))
    #expect(book.find("A1B2C") == .found(book.records[0]))
    #expect(book.find("a1b2f") == .found(book.records[1]))
    // A name goes before digits, and fewer than four are none.
    #expect(book.find("a1b2") == .found(book.records[2]))
    #expect(book.find("012") == .none)
    try #require(book.revoke(id: "0123456789abcdef") != nil)
    #expect(book.find("a1b2") == .ambiguous(book.records))
  }

  @Test func aNameThatIsTakenGetsANumber() throws {
    var book = try #require(PairBook())
    for (number, name) in ["Nursery", "nursery", "Nursery", "Attic"].enumerated() {
      try book.add(book.named(record(number, name: name)), date: now)
    }
    #expect(book.records.map(\.name) == ["Nursery", "nursery #2", "Nursery #3", "Attic"])
    // The same one again keeps its name.
    #expect(book.named(record(0, name: "Nursery")).name == "Nursery")
    let long = String(repeating: "ü", count: PairName.maximumCharacters)
    try book.add(record(7, name: long), date: now)
    let second = book.named(record(8, name: long)).name
    #expect(second.hasSuffix(" #2") && second.count == PairName.maximumCharacters)
    #expect(PairName.cleaned(second, fallback: "") == second)
  }

  @Test func expiredPairIsRefusedButListedAndRevocable() throws {
    var book = try #require(PairBook())
    let guest = record(1, name: "Guest", expiresAt: UnixTime(seconds: now.seconds + 60))
    try book.add(guest, date: now)
    #expect(book.records[0].isUsable(at: UnixTime(seconds: now.seconds + 59)))
    #expect(!book.records[0].isUsable(at: UnixTime(seconds: now.seconds + 60)))
    #expect(book.find("Guest") == .found(guest))
    let revoked = [book.revoke(id: "id1"), book.revoke(id: "id1")]
    #expect(revoked == [guest, nil])
    #expect(book.records.isEmpty)
  }

  @Test func fullBookMakesRoomFromTheExpiredOnly() throws {
    var book = try #require(PairBook())
    for number in 1...PairBook.maximumRecords {
      let expiry = [10: 30, 20: 20].mapValues { UnixTime(seconds: now.seconds + $0) }[number]
      try book.add(record(number, expiresAt: expiry), date: now)
    }
    #expect(throws: PairBook.Full.self) { try book.add(record(100), date: now) }
    #expect(book.records.count == PairBook.maximumRecords)
    // A known key needs no room.
    try book.add(record(1, name: "Again"), date: now)
    try book.add(record(100), date: UnixTime(seconds: now.seconds + 40))
    #expect(book.records.count == PairBook.maximumRecords)
    #expect(book.find("id20") == .none)
    #expect(book.find("id10") != .none)
  }

  @Test func whatWasNotedFarAheadIsPutRight() throws {
    var book = try #require(PairBook())
    for number in 1...3 { try book.add(record(number), date: now) }
    let ahead = UnixTime(seconds: now.seconds + 1_000_000_000), soon = UnixTime(seconds: now.seconds + 3600)
    book.touch(id: "id1", date: ahead)
    // Within a day it may be the clock that is slow.
    book.touch(id: "id2", date: soon)
    let isCorrected = book.correctLastSeen(to: now)
    #expect(isCorrected)
    #expect(book.records.map(\.lastSeenAt) == [now, soon, nil])
    let isCorrectedAgain = book.correctLastSeen(to: now)
    #expect(!isCorrectedAgain)
  }

  @Test func touchNotesTimeAndAddress() throws {
    var book = try #require(PairBook())
    try book.add(record(1), date: now)
    let address = KnownAddress(host: "nursery.local", addresses: [IPAddress("192.0.2.7")!], port: 8443)
    book.touch(id: "id1", date: now, address: address)
    book.touch(id: "id1", date: UnixTime(seconds: now.seconds + 1))
    #expect(book.records[0].lastSeenAt == UnixTime(seconds: now.seconds + 1))
    #expect(book.records[0].lastAddress == address)
    let touched = book.touch(id: "id2", date: now)
    #expect(!touched)
    let many = KnownAddress(host: nil, addresses: Array(repeating: IPAddress("192.0.2.7")!, count: 99), port: 1)
    #expect(many.addresses.count == KnownAddress.maximumAddresses)
  }

  // MARK: Who owns the child

  private func begun(_ number: Int, _ permissions: Permissions = .all) -> PairRecord {
    var record = record(number)
    record.permissions = permissions
    record.awaitsConfirmation = true
    return record
  }

  @Test func theFirstCompletedPairingOwnsTheChild() throws {
    var book = try #require(PairBook(records: [begun(1), begun(2, .everyday), begun(3), begun(4)]))
    #expect(!book.hasCompleted(at: now) && !book.hasOwner(at: now))
    // Seen while the words are compared.
    book.touch(id: "id1", date: UnixTime(seconds: now.seconds + PairRecord.completedAfterSeconds - 1))
    #expect(!book.hasCompleted(at: now))
    book.confirm(id: "id2", date: now)
    #expect(book.hasCompleted(at: now) && !book.hasOwner(at: now))
    #expect(book.abandoned(before: "id2").isEmpty && book.abandoned(before: "id3").isEmpty)
    book.confirm(id: "id3", date: now)
    #expect(book.hasOwner(at: now))
    // Not the later one, which may be comparing the words right now.
    #expect(book.abandoned(before: "id3").map(\.id) == ["id1"])
  }

  @Test func whoIsSeenAMinuteAfterPairingHasCompletedIt() throws {
    var book = try #require(PairBook(records: [begun(1)]))
    book.touch(id: "id1", date: UnixTime(seconds: now.seconds + PairRecord.completedAfterSeconds))
    #expect(book.hasOwner(at: now))
  }

  @Test func anOwnerWhoseTimeIsOverOwnsNothing() throws {
    var owner = record(1, expiresAt: UnixTime(seconds: now.seconds + 60))
    owner.lastSeenAt = now
    let book = try #require(PairBook(records: [owner]))
    #expect(book.hasOwner(at: now) && !book.hasOwner(at: UnixTime(seconds: now.seconds + 60)))
  }

  @Test func recordsThatCannotBeAreRefused() {
    #expect(PairBook(records: [record(1), record(1)]) == nil)
    #expect(PairBook(records: (0...PairBook.maximumRecords).map { record($0) }) == nil)
  }

  @Test func datesStayWithinWhatISO8601CanWrite() {
    #expect(UnixTime(seconds: .max).seconds == 253_402_300_799)
    #expect(UnixTime(seconds: .min).seconds == 0)
  }

  @Test func whatWasSeenExpiredStaysExpired() throws {
    let guest = record(1, expiresAt: UnixTime(seconds: now.seconds + 60))
    var book = try #require(PairBook(records: [guest, record(2)]))
    let start = UnixTime(seconds: 0)
    #expect(book.markExpired(at: now, madeSince: start).isEmpty)
    // By a date far ahead, which may be wrong, what was made before it is not marked.
    let late = UnixTime(seconds: now.seconds + 60)
    #expect(book.markExpired(at: late, madeSince: late).isEmpty)
    let marked = book.markExpired(at: late, madeSince: start)
    #expect(marked.map(\.id) == ["id1"])
    #expect(book.markExpired(at: UnixTime(seconds: now.seconds + 61), madeSince: start).isEmpty)
    // The clock is set back.
    #expect(book.records.map { $0.isUsable(at: now) } == [false, true])
  }

  /// An end that was reckoned from a wrong date is no end. Pairs without one are not a matter of clocks: a board that starts
  /// in 1970 lets the family in.
  @Test func aGuestThatWasMadeInTheFutureIsRefused() throws {
    let day: Int64 = 86_400
    let guest = record(1, expiresAt: UnixTime(seconds: now.seconds + 3600))
    let book = try #require(PairBook(records: [guest, record(2)]))
    let dayBefore = UnixTime(seconds: guest.createdAt.seconds - day)
    #expect(book.records[0].isUsable(at: dayBefore))
    #expect(!book.records[0].isUsable(at: UnixTime(seconds: dayBefore.seconds - 1)))
    #expect(book.records[1].isUsable(at: UnixTime(seconds: 0)))
  }
}
