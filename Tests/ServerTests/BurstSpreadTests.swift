import Testing
import Wire

@testable import Server

@Suite struct BurstSpreadTests {
  @Test func viewersAreSpreadEvenly() {
    var counts = [Int](repeating: 0, count: BurstSpread.slots)
    for number in 1...32 { counts[BurstSpread.slot(of: UInt64(number))] += 1 }
    #expect(counts.max()! - counts.min()! <= 1)
  }

  @Test func theMoreViewersTheLongerUpToHalfAPicture() {
    var spread = BurstSpread()
    #expect(spread.plan(viewers: 7) == nil)
    #expect(spread.plan(viewers: 8) == .milliseconds(5))
    #expect(spread.plan(viewers: 32) == .milliseconds(15))
  }

  /// Otherwise the next picture would overtake those that wait when viewers leave.
  @Test func turnsNeverShortenWhilePicturesWait() {
    var spread = BurstSpread()
    _ = spread.plan(viewers: 24)
    spread.began()
    #expect(spread.plan(viewers: 8) == .milliseconds(15) && spread.plan(viewers: 1) == .milliseconds(15))
    spread.ended()
    #expect(spread.plan(viewers: 1) == nil)
  }
}
