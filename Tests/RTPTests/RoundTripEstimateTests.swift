import RTP
import Testing
import Wire

@Suite struct RoundTripEstimateTests {
  @Test func theFirstMeasurementCountsWhole() {
    var estimate = RoundTripEstimate()
    #expect(estimate.smoothed == nil && estimate.patience == nil)
    estimate.add(.milliseconds(40))
    #expect(estimate.smoothed == .milliseconds(40) && estimate.patience == .milliseconds(50))
  }

  @Test func oneOutlierMovesItByAnEighth() {
    var estimate = RoundTripEstimate()
    for _ in 0..<50 { estimate.add(.milliseconds(20)) }
    estimate.add(.milliseconds(420))
    #expect(estimate.smoothed == .milliseconds(70))
    // Never more than twice the smoothed value, however much measurements vary.
    #expect(estimate.patience == .milliseconds(140))
    for _ in 0..<60 { estimate.add(.milliseconds(20)) }
    #expect(estimate.smoothed.map { $0 < .milliseconds(21) } == true)
  }
}
