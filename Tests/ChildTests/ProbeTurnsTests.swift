import Testing

@testable import Child

/// Whose path may be probed.
@Suite struct ProbeTurnsTests {
  private static func turns(_ wanting: [[Int]], of viewers: [Int] = [1, 2, 3]) -> [Int?] {
    var turns = ProbeTurns<Int>()
    return wanting.map { wanting in turns.next(viewers.map { ($0, wanting.contains($0)) }) }
  }

  @Test func allWhoWantToComeOneAfterTheOther() {
    #expect(Self.turns(Array(repeating: [1, 2, 3], count: 5)) == [1, 2, 3, 1, 2])
  }

  @Test func whoDoesNotWantToIsPassedOver() {
    #expect(Self.turns([[2], [1, 2], [], [1], [2, 3]]) == [2, 1, nil, 1, 2])
  }

  @Test func nobodyWantsTo() {
    #expect(Self.turns([[], []]) == [nil, nil])
    #expect(Self.turns([[]], of: []) == [nil])
  }

  @Test func whoHasLeftDoesNotStopTheOthers() {
    var turns = ProbeTurns<Int>()
    #expect(turns.next([(1, true), (2, true)]) == 1)
    #expect(turns.next([(2, true), (3, true)]) == 2)
    #expect(turns.next([(3, true)]) == 3)
  }
}
