import Testing

@testable import Child

@Suite struct RelayMeterTests {
  @Test func aNightIsCountedUntilItsLimitAndTheNextOneBeginsAtNothing() {
    var meter = RelayMeter(limit: 1000)
    meter.add(600, night: 1)
    #expect(!meter.isUsedUp)
    meter.add(400, night: 1)
    #expect(meter.isUsedUp)
    meter.add(0, night: 2)
    #expect(!meter.isUsedUp)
    meter.add(1000, night: 2)
    #expect(meter.isUsedUp)
  }

  @Test func withoutALimitNothingIsUsedUp() {
    var meter = RelayMeter(limit: nil)
    meter.add(.max, night: 1)
    meter.add(.max, night: 1)
    #expect(!meter.isUsedUp)
  }
}
