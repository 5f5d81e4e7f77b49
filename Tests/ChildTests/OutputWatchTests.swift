import Testing
import Wire

@testable import Child

@Suite struct OutputWatchTests {
  /// Names that are stuck after so many seconds; numbers by the second.
  private func stuck(
    _ seconds: Int, isWanted: (Int) -> Bool = { _ in true }, captured: (Int) -> Int, encoded: (Int) -> Int
  ) -> [String] {
    var watch = OutputWatch()
    var stuck: [String] = []
    for second in 0...seconds {
      let track = OutputWatch.Track(
        name: "encoder", isWanted: isWanted(second), captured: UInt64(captured(second)),
        encoded: UInt64(encoded(second)))
      stuck = watch.stuck([track], now: .zero + .seconds(second))
    }
    return stuck
  }

  @Test func anEncoderThatDeliversNothingIsFound() {
    #expect(stuck(19, captured: { $0 * 30 }, encoded: { _ in 7 }) == [])
    #expect(stuck(20, captured: { $0 * 30 }, encoded: { _ in 7 }) == ["encoder"])
    #expect(stuck(60, captured: { $0 * 30 }, encoded: { min($0, 30) }) == ["encoder"])
  }

  @Test func whatDropsPicturesGoesOn() {
    #expect(stuck(60, captured: { $0 * 30 }, encoded: { $0 / 10 }) == [])
  }

  @Test func withoutInputOrDemandNothingIsExpected() {
    #expect(stuck(60, captured: { _ in 3 }, encoded: { _ in 3 }) == [])
    // The camera stops: one picture was on its way.
    #expect(stuck(60, captured: { min($0, 10) }, encoded: { min($0, 9) }) == [])
    #expect(stuck(60, isWanted: { _ in false }, captured: { $0 * 30 }, encoded: { _ in 3 }) == [])
    // Somebody came a moment ago.
    #expect(stuck(60, isWanted: { $0 > 50 }, captured: { $0 * 30 }, encoded: { _ in 3 }) == [])
  }
}
