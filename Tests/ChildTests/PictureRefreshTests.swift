import Control
import Frames
import Pipelines
import Testing
import Wire

@testable import Child
@testable import Server

@Suite struct PictureRefreshTests {
  private var house = RenditionHouse(20_000, 20_000, 20_000)
  private var refresh = PictureRefresh()
  private var encoded: Int64 = 0

  private func id(_ number: Int) -> PeerID { PeerID(number: UInt64(number)) }

  /// A second in which the encoders take this share of the time.
  private mutating func second(_ share: Double = 0.1) {
    house.now += .seconds(1)
    encoded += Int64(share * 1e9)
    refresh.measure(encodeNanoseconds: encoded, now: house.now)
  }

  private mutating func divide(_ silent: Set<Int>, isRecorded: Bool = false) -> RenditionAllocator.Allocation {
    house.look(isRecorded: isRecorded)
    var allocation = house.allocation
    refresh.divide(&allocation, silent: Set(silent.map(id)), isRecorded: isRecorded, now: house.now)
    return allocation
  }

  private func renditions(_ allocation: RenditionAllocator.Allocation) -> [Rendition?] {
    (0..<3).map { allocation.assignments[id($0)]?.rendition }
  }

  @Test mutating func besideOthersAPlayerGetsAnEncoderOfItsOwn() {
    second()
    let allocation = divide([1])
    #expect(renditions(allocation) == [.high, .refreshed, .high])
    #expect(allocation.targets[.refreshed] == allocation.targets[.high] && allocation.targets[.high] != nil)
    #expect(allocation.assignments[id(1)]?.step == .high, "the same picture")
  }

  @Test mutating func amongThemselvesPlayersShareOne() {
    second()
    #expect(renditions(divide([0, 1, 2])) == [.high, .high, .high])
    #expect(divide([0, 1, 2]).targets[.refreshed] == nil)
    #expect(renditions(divide([])) == [.high, .high, .high])
  }

  @Test mutating func whoHasOneKeepsIt() {
    second()
    _ = divide([1])
    second()
    #expect(renditions(divide([])) == [.high, .refreshed, .high], "it has asked meanwhile")
    let alone = divide([0, 1, 2])
    #expect(renditions(alone) == [.high, .refreshed, .high])
    house.viewers = [house.viewers[1]]
    let last = divide([1])
    #expect(last.assignments[id(1)]?.rendition == .refreshed && last.targets[.high] == nil, "one encoder runs")
    #expect(divide([1], isRecorded: true).targets[.high] != nil, "a recording goes on")
  }

  @Test mutating func aBusyMachineHasOneEncoderForAll() {
    second()
    second(0.4)
    #expect(renditions(divide([1])) == [.high, .high, .high])
    second(0.2)
    #expect(renditions(divide([1])) == [.high, .refreshed, .high])
    second(0.5)
    #expect(renditions(divide([1])) == [.high, .refreshed, .high], "both together")
    second(0.7)
    #expect(renditions(divide([1])) == [.high, .high, .high])
    for _ in 0..<58 { second(0.2) }
    #expect(renditions(divide([1])) == [.high, .high, .high], "not again and again")
    for _ in 0..<3 { second(0.2) }
    #expect(renditions(divide([1])) == [.high, .refreshed, .high])
  }

  @Test func keyFramesAreDueWhereThereIsRoom() {
    func due(_ step: PictureStep, _ rendition: Rendition?, canAsk: Bool) -> Set<Rendition> {
      PictureRefresh.due([
        (PictureAssignment(step: step, rendition: rendition, takesAllLayers: true, isReduced: false), canAsk)
      ])
    }
    for canAsk in [true, false] {
      #expect(due(.high, .high, canAsk: canAsk) == [.high])
      #expect(due(.high, .refreshed, canAsk: canAsk) == [.refreshed])
      #expect(due(.middle, .middle, canAsk: canAsk) == [.middle])
      #expect(due(.stills, .low, canAsk: canAsk) == [])
      #expect(due(.soundAlone, nil, canAsk: canAsk) == [])
    }
    #expect(due(.low, .low, canAsk: true) == [] && due(.low, .low, canAsk: false) == [.low])
    #expect(PictureRefresh.spacing < .seconds(4))
  }
}
