import Pairing
import Testing
import Wire

@testable import Discovery
@testable import Parent

@Suite struct ChildAddressTests {
  @Test(arguments: [
    ("192.0.2.7:8443", "192.0.2.7:8443"), ("192.0.2.7", "192.0.2.7:8443"), ("nursery.local:443", "nursery.local:443"),
    ("[2001:db8::7]:9000", "[2001:db8::7]:9000"), ("2001:db8::7", "[2001:db8::7]:8443"), ("a:1", "a:1"),
  ])
  func placesAreRead(text: String, address: String) {
    #expect(ChildAddress(text).map(\.description) == address)
  }

  /// These are names of children, or nothing.
  @Test(arguments: [
    "Nursery", "nursery.local", "0123456789abcdef", ":8443", "a:", "a:0", "a:99999", "a b:1", "a/b:1", "",
  ])
  func everythingElseIsNoPlace(text: String) {
    #expect(ChildAddress(text) == nil)
  }

  @Test func linkLocalAddressesWithAZoneGiveWayToTheName() {
    let both = DiscoveredChild.test("N", addresses: ["fe80::1%eth0", "192.0.2.7"])
    #expect(ChildAddress.all(of: both).map(\.description) == ["192.0.2.7:8443"])
    let one = DiscoveredChild.test("N", addresses: ["fe80::1%eth0"])
    #expect(ChildAddress.all(of: one).map(\.description) == ["nursery.local:8443"])
    #expect(one.isOnlyLinkLocal && !both.isOnlyLinkLocal && !DiscoveredChild.test("N", addresses: []).isOnlyLinkLocal)
  }

  @Test func whereItWasReachedLastComesFirstNextTime() throws {
    let first = try #require(ChildAddress("192.0.2.7:8443"))
    let second = try #require(ChildAddress("192.0.2.8:8443"))
    var known = KnownAddress(reached: first, remote: nil, before: nil)
    known = KnownAddress(reached: second, remote: nil, before: known)
    #expect(ChildAddress.all(of: known) == [second, first])
    let named = try #require(ChildAddress("nursery.local:9000"))
    known = KnownAddress(reached: named, remote: .v4(0xc000_0209), before: known)
    #expect(ChildAddress.all(of: known).map(\.description) == ["192.0.2.9:9000", "nursery.local:9000"])
  }
}

@Suite struct ChildChoiceTests {
  private static func record(_ name: String, _ number: Int) -> PairRecord {
    PairRecord(
      id: "000000000000000\(number)", name: name, role: .child, publicKey: [UInt8(number)], permissions: .all,
      createdAt: UnixTime(seconds: 1))
  }

  private static func book(_ names: String...) throws -> PairBook {
    try #require(PairBook(records: names.enumerated().map { record($1, $0) }))
  }

  @Test func theOnlyPairedChildNeedNotBeNamed() throws {
    #expect(try ChildChoice.paired(nil, in: Self.book("Nursery")).name == "Nursery")
  }

  @Test func whoIsMeantHasToBeClear() throws {
    #expect(throws: FindingError.nothingPaired) { try ChildChoice.paired(nil, in: Self.book()) }
    let two = try Self.book("Nursery", "Attic")
    #expect(throws: FindingError.severalPaired(two.records)) { try ChildChoice.paired(nil, in: two) }
    #expect(try ChildChoice.paired("attic", in: two).name == "Attic")
    #expect(throws: FindingError.notPaired("Cellar", paired: ["Nursery", "Attic"])) {
      try ChildChoice.paired("Cellar", in: two)
    }
    #expect(throws: FindingError.ambiguous("Cot", ids: ["0000000000000000", "0000000000000001"])) {
      try ChildChoice.paired("Cot", in: Self.book("Cot", "Cot"))
    }
  }

  @Test func theOneThatTakesAParentIsMeantWhenNoneIsNamed() throws {
    let closed = DiscoveredChild.test("A", id: "000000000000000a")
    let open = DiscoveredChild.test("B", id: "000000000000000b", pairing: .open)
    #expect(try ChildChoice.found(nil, in: Neighbourhood(children: [closed, open])) == open)
    #expect(try ChildChoice.found(nil, in: Neighbourhood(children: [closed])) == closed)
    #expect(throws: FindingError.severalFound([closed, closed])) {
      try ChildChoice.found(nil, in: Neighbourhood(children: [closed, closed]))
    }
    #expect(throws: FindingError.nothingFound(.noAvahi)) {
      try ChildChoice.found(nil, in: Neighbourhood(problem: .noAvahi))
    }
    #expect(try ChildChoice.found("b", in: Neighbourhood(children: [closed, open])) == open)
    #expect(try ChildChoice.found("000000000000000a", in: Neighbourhood(children: [closed, open])) == closed)
    let long = DiscoveredChild.test("D", id: "d00f000000000001")
    #expect(try ChildChoice.found("d00f", in: Neighbourhood(children: [closed, long])) == long)
    #expect(throws: FindingError.notFound("C", nil)) {
      try ChildChoice.found("C", in: Neighbourhood(children: [closed, open]))
    }
  }

  @Test(arguments: [
    FindingError.nothingPaired, .notPaired("X", paired: ["Y"]), .notFound("X", nil), .notFound("X", .noAvahi),
    .nothingFound(nil),
  ])
  func everyErrorSaysWhatToTry(error: FindingError) {
    let text = "\(error)"
    #expect(["`cradle-parent", "host:port"].contains { text.contains($0) }, Comment(rawValue: text))
  }
}

@Suite struct NeighbourhoodChangesTests {
  @Test func whatComesChangesAndGoesIsToldOnce() {
    var changes = NeighbourhoodChanges()
    let closed = DiscoveredChild.test("Nursery")
    var open = closed
    open.pairing = .open
    #expect(changes.update(Neighbourhood(children: [closed])) == [.here(closed)])
    #expect(changes.update(Neighbourhood(children: [closed])).isEmpty)
    #expect(changes.update(Neighbourhood(children: [open])) == [.here(open)])
    #expect(changes.update(Neighbourhood()) == [.gone(open)])
  }

  @Test func aMissingDaemonIsToldOnce() {
    var changes = NeighbourhoodChanges()
    #expect(changes.update(Neighbourhood(problem: .noAvahi)) == [.trouble(.noAvahi)])
    #expect(changes.update(Neighbourhood(problem: .noAvahi)).isEmpty)
    #expect(changes.update(Neighbourhood()).isEmpty)
    #expect(changes.update(Neighbourhood(problem: .noAvahi)).isEmpty)
  }
}
