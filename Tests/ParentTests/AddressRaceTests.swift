import Testing

@testable import Parent

@Suite struct AddressRaceTests {
  private static let addresses = (1...3).compactMap { ChildAddress("192.0.2.\($0):8443") }

  private static func attempt(_ index: Int, isPinned: Bool = true) -> AddressRace.Attempt {
    AddressRace.Attempt(address: addresses[index], isPinned: isPinned)
  }

  private static func dials(_ index: Int, isPinned: Bool = true) -> [AddressRace.Action] {
    [.dial(attempt(index, isPinned: isPinned)), .wait]
  }

  @Test func theNextAddressIsTriedBesideOneThatTakesLong() {
    var race = AddressRace()
    #expect(race.add(Self.addresses[0]) == Self.dials(0))
    #expect(race.add(Self.addresses[1]) == [])
    #expect(race.spacingOver() == Self.dials(1))
    #expect(race.spacingOver() == [])
    #expect(race.add(Self.addresses[2]) == Self.dials(2))
  }

  @Test func aFailureBringsTheNextAddressAtOnce() {
    var race = AddressRace()
    for address in Self.addresses { _ = race.add(address) }
    #expect(race.failed(Self.attempt(0), .unreachable("refused")) == Self.dials(1))
  }

  @Test func anAddressIsTriedOnce() {
    var race = AddressRace()
    _ = race.add(Self.addresses[0])
    #expect(race.failed(Self.attempt(0), .unreachable("refused")) == [])
    #expect(race.add(Self.addresses[0]) == [])
    #expect(race.complete() == [.giveUp(["192.0.2.1:8443: refused"])])
  }

  @Test func withoutAnyAddressItIsGivenUpAtTheEnd() {
    var race = AddressRace()
    #expect(race.complete() == [.giveUp([])])
  }

  @Test func whoShowsAnotherKeyIsAskedAgainWhenNobodyElseIsLeft() {
    var race = AddressRace()
    _ = race.add(Self.addresses[0])
    #expect(race.failed(Self.attempt(0), .otherKey) == [])
    #expect(race.add(Self.addresses[1]) == Self.dials(1))
    #expect(race.complete() == [])
    #expect(race.failed(Self.attempt(1), .unreachable("gone")) == Self.dials(0, isPinned: false))
    #expect(
      race.failed(Self.attempt(0, isPinned: false), .otherKey)
        == [.giveUp(["192.0.2.2:8443: gone", "192.0.2.1:8443: its certificate is not trusted"])])
  }
}
