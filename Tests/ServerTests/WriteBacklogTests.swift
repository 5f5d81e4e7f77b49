import Testing
import Wire

@testable import Server

/// What waits for clients that do not read: how much, and how long.
@Suite struct WriteBacklogTests {
  private static let family: IPAddress = .v4(0xc0a8_0102)
  private static let attacker: IPAddress = .v4(0xc0a8_0166)

  private static func limits(_ adjust: (inout WriteBacklog.Limits) -> Void = { _ in }) -> WriteBacklog.Limits {
    var limits = WriteBacklog.Limits()
    (limits.connection, limits.address, limits.total, limits.progress) = (100, 250, 400, 10)
    adjust(&limits)
    return limits
  }

  private static func second(_ number: Int) -> Instant { .zero + .seconds(number) }

  @Test func aConnectionHasItsBound() {
    var backlog = WriteBacklog(limits: Self.limits())
    #expect(backlog.update(1, from: Self.attacker, waiting: 100, taken: 0, now: .zero).isEmpty)
    #expect(backlog.update(1, from: Self.attacker, waiting: 101, taken: 0, now: .zero) == [1])
    #expect(backlog.total == 0 && backlog.deadline(of: 1) == nil)
  }

  @Test func ofAnAddressTheOneThatTookNothingForLongestIsClosed() {
    var backlog = WriteBacklog(limits: Self.limits())
    for id in 1...3 {
      #expect(backlog.update(UInt64(id), from: Self.attacker, waiting: 80, taken: 0, now: Self.second(id)).isEmpty)
    }
    // The first takes something, so that the second is the one.
    #expect(backlog.update(1, from: Self.attacker, waiting: 70, taken: 10, now: Self.second(4)).isEmpty)
    #expect(backlog.update(9, from: Self.family, waiting: 90, taken: 0, now: Self.second(5)).isEmpty)
    #expect(backlog.update(4, from: Self.attacker, waiting: 50, taken: 0, now: Self.second(5)) == [2])
    #expect(backlog.total == 70 + 80 + 90 + 50)
  }

  @Test func manyAddressesHaveABoundTogether() {
    var backlog = WriteBacklog(limits: Self.limits())
    var closed: [WriteBacklog.ID] = []
    for number in 0..<1000 {
      closed += backlog.update(
        UInt64(number), from: .v6(1, UInt64(number)), waiting: 90, taken: 0, now: Self.second(number))
      #expect(backlog.total <= 400)
    }
    #expect(closed == (0..<996).map { UInt64($0) })
  }

  @Test func whoTakesEverythingIsForgotten() {
    var backlog = WriteBacklog(limits: Self.limits())
    for number in 0..<100 {
      #expect(backlog.update(1, from: Self.family, waiting: 100, taken: number * 100, now: .zero).isEmpty)
      #expect(backlog.update(1, from: Self.family, waiting: 0, taken: number * 100 + 100, now: .zero).isEmpty)
    }
    #expect(backlog.total == 0 && backlog.deadline(of: 1) == nil)
  }

  /// A byte each nine seconds is as good as none.
  @Test func aLittleProgressBuysNoTime() {
    var backlog = WriteBacklog(limits: Self.limits())
    for number in 0...9 {
      _ = backlog.update(1, from: Self.attacker, waiting: 100 - number, taken: number, now: Self.second(number * 9))
      #expect(backlog.deadline(of: 1) == Self.second(10))
    }
    _ = backlog.update(1, from: Self.attacker, waiting: 90, taken: 10, now: Self.second(9))
    #expect(backlog.deadline(of: 1) == Self.second(19))
  }

  @Test func moreThatIsAskedForBuysNoTimeEither() {
    var backlog = WriteBacklog(limits: Self.limits())
    for number in 1...9 {
      _ = backlog.update(1, from: Self.attacker, waiting: number, taken: 0, now: Self.second(number))
      #expect(backlog.deadline(of: 1) == Self.second(11))
    }
  }
}
