import Testing

@testable import Parent

@Suite struct HappyEyeballsTests {
  private static let addresses = (1...3).compactMap { ChildAddress("192.0.2.\($0):8443") }

  private static func attempt(_ index: Int, isPinned: Bool = true) -> HappyEyeballs.Attempt {
    HappyEyeballs.Attempt(address: addresses[index], isPinned: isPinned)
  }

  private static func dials(_ index: Int, isPinned: Bool = true) -> [HappyEyeballs.Action] {
    [.dial(attempt(index, isPinned: isPinned)), .wait]
  }

  @Test func theNextAddressIsTriedBesideOneThatTakesLong() {
    var eyeballs = HappyEyeballs()
    #expect(eyeballs.add(Self.addresses[0]) == Self.dials(0))
    #expect(eyeballs.add(Self.addresses[1]) == [])
    #expect(eyeballs.spacingOver() == Self.dials(1))
    #expect(eyeballs.spacingOver() == [])
    #expect(eyeballs.add(Self.addresses[2]) == Self.dials(2))
  }

  @Test func aFailureBringsTheNextAddressAtOnce() {
    var eyeballs = HappyEyeballs()
    for address in Self.addresses { _ = eyeballs.add(address) }
    #expect(eyeballs.failed(Self.attempt(0), .unreachable("refused")) == Self.dials(1))
  }

  @Test func anAddressIsTriedOnce() {
    var eyeballs = HappyEyeballs()
    _ = eyeballs.add(Self.addresses[0])
    #expect(eyeballs.failed(Self.attempt(0), .unreachable("refused")) == [])
    #expect(eyeballs.add(Self.addresses[0]) == [])
    #expect(eyeballs.complete() == [.giveUp(["192.0.2.1:8443: refused"])])
  }

  @Test func whetherOneWasLostIsKnown() {
    var eyeballs = HappyEyeballs()
    for address in Self.addresses.prefix(2) { _ = eyeballs.add(address) }
    _ = eyeballs.failed(Self.attempt(0), .lost("the connection was lost"))
    #expect(eyeballs.hasLost)
    _ = eyeballs.complete()
    #expect(
      eyeballs.failed(Self.attempt(1), .unreachable("refused"))
        == [.giveUp(["192.0.2.1:8443: the connection was lost", "192.0.2.2:8443: refused"])])
    var other = HappyEyeballs()
    _ = other.add(Self.addresses[0])
    _ = other.failed(Self.attempt(0), .unreachable("refused"))
    #expect(!other.hasLost)
  }

  @Test func withoutAnyAddressItIsGivenUpAtTheEnd() {
    var eyeballs = HappyEyeballs()
    #expect(eyeballs.complete() == [.giveUp([])])
  }

  @Test func whoShowsAnotherKeyIsAskedAgainWhenNobodyElseIsLeft() {
    var eyeballs = HappyEyeballs()
    _ = eyeballs.add(Self.addresses[0])
    #expect(eyeballs.failed(Self.attempt(0), .otherKey) == [])
    #expect(eyeballs.add(Self.addresses[1]) == Self.dials(1))
    #expect(eyeballs.complete() == [])
    #expect(eyeballs.failed(Self.attempt(1), .unreachable("gone")) == Self.dials(0, isPinned: false))
    #expect(
      eyeballs.failed(Self.attempt(0, isPinned: false), .otherKey)
        == [.giveUp(["192.0.2.2:8443: gone", "192.0.2.1:8443: its certificate is not trusted"])])
  }
}
