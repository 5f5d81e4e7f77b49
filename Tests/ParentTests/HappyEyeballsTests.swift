import Testing
import Wire

@testable import Parent

@Suite struct HappyEyeballsTests {
  private static let addresses = (1...3).compactMap { ChildAddress("192.0.2.\($0):8443") }
  private var eyeballs = HappyEyeballs()
  private var now = Instant.zero

  private static func attempt(_ index: Int, isPinned: Bool = true) -> HappyEyeballs.Attempt {
    HappyEyeballs.Attempt(address: addresses[index], isPinned: isPinned)
  }

  private static func dials(_ index: Int, isPinned: Bool = true) -> [HappyEyeballs.Action] {
    [.dial(attempt(index, isPinned: isPinned))]
  }

  private mutating func add(_ index: Int) -> [HappyEyeballs.Action] { eyeballs.add(Self.addresses[index], now: now) }

  private mutating func fail(
    _ index: Int, isPinned: Bool = true, _ failure: HappyEyeballs.Failure
  ) -> [HappyEyeballs.Action] {
    eyeballs.failed(Self.attempt(index, isPinned: isPinned), failure, now: now)
  }

  @Test mutating func theNextAddressIsTriedBesideOneThatTakesLong() {
    #expect(add(0) == Self.dials(0) && eyeballs.nextDeadline == nil)
    #expect(add(1) == [] && eyeballs.nextDeadline == .zero + HappyEyeballs.spacing)
    now += HappyEyeballs.spacing - .milliseconds(1)
    #expect(eyeballs.handleTimeout(now: now) == [])
    now += .milliseconds(1)
    #expect(eyeballs.handleTimeout(now: now) == Self.dials(1) && eyeballs.nextDeadline == nil)
    now += HappyEyeballs.spacing
    #expect(eyeballs.handleTimeout(now: now) == [])
    #expect(add(2) == Self.dials(2))
  }

  @Test mutating func aFailureBringsTheNextAddressAtOnce() {
    for index in 0..<3 { _ = add(index) }
    #expect(fail(0, .unreachable("refused")) == Self.dials(1))
  }

  @Test mutating func anAddressIsTriedOnce() {
    _ = add(0)
    #expect(fail(0, .unreachable("refused")) == [])
    #expect(add(0) == [])
    #expect(eyeballs.complete(now: now) == [.giveUp(.init(reasons: ["192.0.2.1:8443: refused"]))])
  }

  @Test mutating func whetherOneWasLostIsKnown() {
    for index in 0..<2 { _ = add(index) }
    _ = fail(0, .lost("the connection was lost"))
    _ = eyeballs.complete(now: now)
    #expect(
      fail(1, .unreachable("refused"))
        == [
          .giveUp(
            .init(
              reasons: ["192.0.2.1:8443: the connection was lost", "192.0.2.2:8443: refused"], hasLost: true))
        ])
  }

  @Test mutating func withoutAnyAddressItIsGivenUpAtTheEnd() {
    #expect(eyeballs.complete(now: now) == [.giveUp(.init(reasons: []))])
  }

  @Test mutating func whoShowsAnotherKeyIsAskedAgainWhenNobodyElseIsLeft() {
    _ = add(0)
    #expect(fail(0, .otherKey) == [])
    #expect(add(1) == Self.dials(1))
    #expect(eyeballs.complete(now: now) == [])
    #expect(fail(1, .unreachable("gone")) == Self.dials(0, isPinned: false))
    #expect(
      fail(0, isPinned: false, .otherKey)
        == [
          .giveUp(.init(reasons: ["192.0.2.2:8443: gone", "192.0.2.1:8443: its certificate is not trusted"]))
        ])
  }

  /// What was being tried beside it is tried again when it proves to be of no use, then the others.
  @Test mutating func theOthersWaitWhileOneIsUsed() {
    for index in 0..<3 { _ = add(index) }
    now += HappyEyeballs.spacing
    #expect(eyeballs.handleTimeout(now: now) == Self.dials(1))
    #expect(eyeballs.connected(Self.attempt(1)) == [.cancel(Self.attempt(0)), .use(Self.attempt(1))])
    now += .seconds(5)
    #expect(eyeballs.nextDeadline == nil && eyeballs.handleTimeout(now: now) == [] && eyeballs.complete(now: now) == [])
    // The one that was given up answers all the same.
    #expect(eyeballs.connected(Self.attempt(0)) == [] && fail(0, .unreachable("late")) == [])
    #expect(eyeballs.goOn(because: "no answer", now: now) == Self.dials(0))
    #expect(eyeballs.goOn(because: "no answer", now: now) == [])
    #expect(fail(0, .unreachable("refused")) == Self.dials(2))
    #expect(
      fail(2, .unreachable("refused"))
        == [
          .giveUp(
            .init(
              reasons: ["192.0.2.2:8443: no answer", "192.0.2.1:8443: refused", "192.0.2.3:8443: refused"],
              wasOpen: true))
        ])
  }
}
