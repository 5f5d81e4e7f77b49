import Testing
import Wire

@testable import Child

@Suite struct LogCountsTests {
  @Test func eachReasonIsLoggedOnceInItsTimeWithItsCount() {
    let counts = LogCounts<String>(interval: .seconds(60))
    #expect(counts.count("a", now: .zero) == 1 && counts.count("b", now: .zero) == 1)
    for second in 1..<60 { #expect(counts.count("a", now: .zero + .seconds(second)) == nil) }
    #expect(counts.count("a", now: .zero + .seconds(60)) == 60)
    #expect(counts.count("a", now: .zero + .seconds(61)) == nil)
    #expect(counts.count("b", now: .zero + .seconds(120)) == 1)
  }

  @Test func whoMakesUpReasonsFillsNothing() {
    let counts = LogCounts<Int>(interval: .seconds(60), maximum: 4)
    #expect((0..<1000).count { counts.count($0, now: .zero) != nil } == 4)
    #expect((0..<1000).count { counts.count($0 + 1000, now: .zero + .seconds(60)) != nil } == 4)
  }
}
