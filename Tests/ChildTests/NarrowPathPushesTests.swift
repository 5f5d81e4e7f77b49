import Control
import Testing

@testable import Child

@Suite struct NarrowPathPushesTests {
  private func level(_ levelDb: Double, at time: Double) -> LevelDocument {
    LevelDocument(levelDb: levelDb, time: time)
  }

  @Test func theLoudestOfEachSecondIsTold() {
    var pushes = NarrowPathPushes()
    #expect(pushes.beat().level == nil)
    for (index, levelDb) in [-50, -12.5, -40, -41, -60].enumerated() {
      pushes.add(level(levelDb, at: Double(index) / 5))
    }
    #expect(pushes.beat().level == level(-12.5, at: 0.2))
    pushes.add(level(-55, at: 1))
    #expect(pushes.beat().level == level(-55, at: 1))
    #expect(pushes.beat().level == nil)
  }

  @Test func ofEqualOnesTheLastIsTold() {
    var pushes = NarrowPathPushes()
    pushes.add(level(-100, at: 1))
    pushes.add(level(-100, at: 2))
    #expect(pushes.beat().level == level(-100, at: 2))
  }

  @Test func everyFifthHeartbeatHasThePath() {
    var pushes = NarrowPathPushes()
    #expect(
      (0..<10).map { _ in pushes.beat().includesPath } == [
        true, false, false, false, false, true, false, false, false, false,
      ])
  }
}
