import Testing

@testable import Child

@Suite struct RateAllocationTests {
  private func allocation(_ estimates: [Int]) -> RateAllocation {
    RateAllocation(estimatesKbps: estimates, range: 150...2500, startKbps: 1500)
  }

  @Test func startsWithinTheConfiguredRange() {
    #expect(allocation([]).encoderKbps == 1500)
    #expect(RateAllocation(estimatesKbps: [], range: 150...800, startKbps: 1500).encoderKbps == 800)
  }

  @Test func leavesRoomForSoundAndHeaders() {
    #expect(allocation([1500]).encoderKbps == 1404)
    #expect(allocation([200]).encoderKbps == 160)
    #expect(allocation([100]).encoderKbps == 150)
    #expect(allocation([9000]).encoderKbps == 2500)
  }

  @Test func aMuchSlowerViewerDoesNotMakeThePictureWorseForTheOthers() {
    let mixed = allocation([2000, 400])
    #expect(mixed.encoderKbps == 1904)
    #expect(!mixed.takesAllLayers(estimateKbps: 400))
    #expect(mixed.takesAllLayers(estimateKbps: 2000))
    #expect(mixed.takesAllLayers(estimateKbps: nil))
  }

  @Test func viewersOfSimilarPathsShareTheSlowerOne() {
    let similar = allocation([2000, 1200])
    #expect(similar.encoderKbps == 1104)
    #expect(similar.takesAllLayers(estimateKbps: 1200))
  }
}
