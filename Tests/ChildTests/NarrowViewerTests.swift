import Control
import Frames
import Pipelines
import Testing
import Wire

@testable import Child
@testable import Server

/// What `RenditionAllocator` leaves a viewer whose path carries hardly more than the sound.
@Suite struct NarrowViewerTests {
  @Test func belowTheLowestRenditionThereAreStillsAndThenSoundAlone() throws {
    var stills = RenditionHouse(70)
    stills.run(seconds: 1.8)
    #expect(stills.step(0) == .stills && stills.assignment(0)?.rendition == .low)
    #expect(stills.allocation.targets[.low]?.isStillsOnly == true && stills.kbps(.high) == nil)
    #expect(stills.kbps(.low) == RenditionAllocator.Tuning.stillsKbps)
    let sound = RenditionHouse(25)
    #expect(sound.step(0) == .soundAlone && sound.assignment(0)?.rendition == nil)
    #expect(Rendition.allCases.allSatisfy { sound.kbps($0) == nil }, "no encoder runs")
  }

  /// While the queue of a path that has become narrow drains, the estimate is lower than what the path carries.
  @Test func whoFallsFarKeepsMovingPicturesForAMoment() {
    var house = RenditionHouse(2000)
    house.viewers[0].estimateKbps = 48
    house.look()
    #expect(house.step(0) == .low && house.kbps(.low) == 40)
    var other = house
    house.run(seconds: 1.4)
    house.viewers[0].estimateKbps = 110
    house.run(seconds: 10)
    #expect(house.step(0) == .low)
    house.viewers[0].estimateKbps = 80
    house.run(seconds: 2.5)
    #expect(house.step(0) == .low, "later it is patient for longer")
    other.run(seconds: 1.7)
    #expect(other.step(0) == .stills)
    // Much too little is none for a moment.
    house = RenditionHouse(2000)
    house.viewers[0].estimateKbps = 35
    house.look()
    #expect(house.step(0) == .stills && house.assignment(0)?.rendition == nil)
  }

  @Test func whoComesBackToAWidePathNeedNotWaitOnEachStep() {
    var house = RenditionHouse(90)
    house.viewers[0].estimateKbps = 330
    house.run(seconds: 0.3)
    house.viewers[0].estimateKbps = 2000
    house.run(seconds: 0.8)
    #expect(house.step(0) == .middle)
    house.run(seconds: 0.5)
    #expect(house.step(0) == .high)
  }

  /// Messages leave pictures a little less; what they do not decide is which pictures there are.
  @Test func messagesTakeTheirShareOfTheRate() {
    var house = RenditionHouse(150)
    #expect(house.kbps(.low) == 77)
    house.viewers[0].messagesKbps = 6
    house.look()
    #expect(house.step(0) == .low && house.kbps(.low) == 71)
    house.viewers[0].estimateKbps = 104
    house.look()
    #expect(house.step(0) == .low && house.kbps(.low) == 40)
  }

  /// A still lowers the estimate until its queue is gone.
  @Test func stillsGoOnAfterAMomentWithTooLittleForThem() {
    var house = RenditionHouse(70)
    house.run(seconds: 1.8)
    for _ in 0..<4 {
      house.viewers[0].estimateKbps = 35
      house.run(seconds: 4)
      #expect(house.step(0) == .stills && house.assignment(0)?.rendition == nil, "none is sent")
      #expect(house.allocation.targets[.low]?.isStillsOnly == true, "the encoder is kept")
      house.viewers[0].estimateKbps = 70
      house.run(seconds: 1)
      #expect(house.step(0) == .stills && house.assignment(0)?.rendition == .low)
    }
    house.viewers[0].estimateKbps = 35
    house.run(seconds: 5.2)
    #expect(house.step(0) == .soundAlone && house.kbps(.low) == nil)
    // Much too little is none for a moment either.
    var other = RenditionHouse(70)
    other.viewers[0].estimateKbps = 25
    other.look()
    #expect(other.step(0) == .soundAlone)
  }

  @Test func noStillPutsMovingPicturesOff() {
    var house = RenditionHouse(90)
    house.viewers[0].estimateKbps = 60
    house.run(seconds: 4)
    #expect(house.step(0) == .stills && house.assignment(0)?.rendition == .low)
    house.viewers[0].estimateKbps = 140
    house.run(seconds: 4.9)
    #expect(house.step(0) == .stills && house.assignment(0)?.rendition == nil)
    house.run(seconds: 0.3)
    #expect(house.step(0) == .low)
  }

  /// It would ring as a frozen picture.
  @Test func aStillIsNotHeldBackForARiseThatIsFarAway() {
    var house = RenditionHouse(90)
    for _ in 0..<10 { house.add(110, since: .zero) }
    house.viewers[0].estimateKbps = 60
    house.run(seconds: 4)
    #expect(house.step(0) == .stills && house.step(1) == .low)
    house.viewers[0].estimateKbps = 140
    var withRoom = 0
    house.run(seconds: 30) { house in
      if house.assignment(0)?.rendition != nil { withRoom += 1 }
    }
    #expect(house.step(0) == .stills && withRoom > 250)
  }

  @Test func afterAFallTheFirstStillComesAsSoonAsThereIsRoom() {
    var house = RenditionHouse(3000)
    house.viewers[0].estimateKbps = 35
    house.run(seconds: 1.5)
    #expect(house.step(0) == .stills && house.assignment(0)?.rendition == nil && house.kbps(.low) == nil)
    house.viewers[0].estimateKbps = 60
    house.look()
    #expect(house.assignment(0)?.rendition == .low && house.allocation.targets[.low]?.isStillsOnly == true)
  }

  @Test func whoHearsNoSoundHasItsRateForThePicture() {
    var house = RenditionHouse(70)
    house.viewers[0].soundKbps = 0
    house.run(seconds: 6)
    #expect(house.step(0) == .low)
  }

  @Test func aQueueThatDrainsDoesNotCostTheSmallestPicture() {
    var house = RenditionHouse(100)
    #expect(house.step(0) == .low)
    for _ in 0..<10 {
      house.viewers[0].estimateKbps = 50
      house.run(seconds: 2.8)
      house.viewers[0].estimateKbps = 100
      house.run(seconds: 1)
    }
    #expect(house.step(0) == .low && house.changes(0) == 0)
    house.viewers[0].estimateKbps = 50
    house.run(seconds: 3.2)
    #expect(house.step(0) == .stills)
    // Much too little is none for a moment either.
    var other = RenditionHouse(100)
    other.viewers[0].estimateKbps = 30
    other.look()
    #expect(other.step(0) == .stills)
  }
}
