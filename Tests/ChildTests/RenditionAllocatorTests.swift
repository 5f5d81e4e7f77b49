import Control
import Frames
import Pipelines
import Testing
import VideoFormats
import Wire

@testable import Child
@testable import Server

@Suite struct RenditionAllocatorTests {
  @Test func whileNobodyIsHereOnlyTheCamerasOwnPictureIsReady() {
    let house = RenditionHouse()
    #expect(house.allocation.targets == PerRendition { $0 == .high ? RenditionTarget(kbps: 1500) : nil })
    var slow = RenditionAllocator(settings: .init(range: 150...800, startKbps: 1500))
    let allocation = slow.allocate([], size: (1280, 720), now: .zero)
    #expect(allocation.targets[.high]?.kbps == 800)
  }

  /// There is no base layer that a slower path could have alone.
  @Test(arguments: [
    (9000, PictureStep.high, 2500), (800, .high, 630), (700, .middle, 545), (300, .low, 120), (90, .low, 40),
  ])
  func aViewerOfH264AloneGetsWhatItsPathCarriesWhole(_ estimate: Int, _ step: PictureStep, _ kbps: Int) throws {
    var house = RenditionHouse()
    house.allocator = RenditionAllocator(settings: .init(range: 150...2500, startKbps: 1500), codec: .h264)
    house.add(estimate, since: .zero)
    house.look()
    #expect(house.step(0) == step)
    let rendition = try #require(house.assignment(0)?.rendition)
    #expect(house.kbps(rendition) == kbps)
  }

  /// Of a codec that nobody is on while others watch.
  @Test func withoutViewersNothingHasToStayReady() {
    var allocator = RenditionAllocator(settings: .init(range: 150...2500, startKbps: 1500))
    let none = allocator.allocate([], size: (1280, 720), staysReady: false, now: .zero)
    #expect(none.targets == PerRendition { _ in nil })
    let recorded = allocator.allocate([], size: (1280, 720), isRecorded: true, staysReady: false, now: .zero)
    #expect(recorded.targets[.high]?.kbps == 1500)
  }

  /// 3600 macroblocks, in the camera's shape.
  @Test(arguments: [
    (1280, 720, 1280, 720), (1920, 1080, 1280, 720), (720, 1280, 720, 1280), (1080, 1920, 720, 1280),
    (3840, 2160, 1280, 720), (1600, 1200, 1098, 824), (640, 480, 640, 480), (8, 6, 8, 6),
  ])
  func h264IsNoLargerThanItsLevel(width: Int, height: Int, fitting: Int, rows: Int) throws {
    for rendition in [Rendition.high, .refreshed] {
      let size = try #require(rendition.size(ofCamera: width, height, codec: .h264))
      #expect(size == (fitting, rows) && H264Level.fits(width: size.width, height: size.height), "\(size)")
      #expect(try #require(rendition.size(ofCamera: width, height)) == (width, height))
    }
    #expect(Rendition.high.maximumFramesPerSecond(of: .h264) == 30)
    #expect(Rendition.high.maximumFramesPerSecond(of: .vp8) == nil)
    #expect(Rendition.low.maximumFramesPerSecond(of: .h264) == 10)
  }

  @Test(arguments: [
    (9000, PictureStep.high, 2500), (2000, .high, 1650), (1000, .high, 800), (600, .high, 600), (550, .middle, 417),
    (300, .middle, 250), (240, .middle, 250), (230, .low, 120), (150, .low, 77), (90, .low, 40),
  ])
  func aViewerAloneGetsTheBestThatItsPathCarries(_ estimate: Int, _ step: PictureStep, _ kbps: Int) throws {
    let house = RenditionHouse(estimate)
    #expect(house.step(0) == step)
    let rendition = try #require(house.assignment(0)?.rendition)
    #expect(house.kbps(rendition) == kbps)
    #expect(Rendition.allCases.filter { house.kbps($0) != nil } == [rendition], "one encoder runs")
  }

  /// `b=AS` of its offer: known before anything is measured, and whatever the path carries.
  @Test(arguments: [
    (1, PictureStep.stills, nil as Int?, false), (60, .low, 43, true), (300, .middle, 250, true),
    (200, .middle, 250, false),
    (700, .high, 600, true), (560, .high, 600, false), (3000, .high, 1225, true),
  ])
  func aViewerThatWantsSoMuchGetsNoMore(_ limit: Int, _ step: PictureStep, _ kbps: Int?, _ takesAll: Bool) throws {
    for estimate in [nil, 9000] {
      var house = RenditionHouse()
      house.add(estimate)
      house.viewers[0].limitKbps = limit
      house.run(seconds: 0.1)
      #expect(house.step(0) == step, "\(estimate ?? 0)")
      if let kbps, let rendition = house.assignment(0)?.rendition, limit < 3000 || estimate == nil {
        #expect(house.kbps(rendition) == kbps, "\(estimate ?? 0)")
        #expect(house.assignment(0)?.takesAllLayers == takesAll, "\(estimate ?? 0)")
      }
      house.run(seconds: 30)
      let rendition = house.assignment(0)?.rendition ?? .low
      let rate = house.kbps(rendition) ?? 0
      let sent = house.assignment(0)?.takesAllLayers == true ? rate : rate * (rendition == .high ? 75 : 60) / 100
      #expect(sent * 115 <= limit * 100 || house.step(0)! <= .stills, "\(limit): \(sent)")
      #expect(house.assignment(0)?.isReduced == false, "it wants no more")
    }
  }

  @Test func whereThePathCarriesLessThanIsWantedThePathIsTheReason() {
    var house = RenditionHouse()
    house.add(200, since: .zero)
    house.viewers[0].limitKbps = 700
    house.look()
    #expect(house.step(0) == .low && house.assignment(0)?.isReduced == true)
    // All of the middle rendition would be more than is wanted, with its headers.
    var near = RenditionHouse()
    near.add(9000, since: .zero)
    near.viewers[0].limitKbps = 280
    near.look()
    #expect(near.kbps(.middle) == 250 && near.assignment(0)?.takesAllLayers == false)
  }

  @Test func aViewerThatWantsLessCostsTheOthersNothing() {
    var house = RenditionHouse()
    house.add(5000, since: .zero)
    house.look()
    for limit in [300, 700, 1500] {
      house.add(nil)
      house.viewers[house.viewers.count - 1].limitKbps = limit
      house.look()
      #expect(house.kbps(.high) == 2500 && house.step(0) == .high && house.assignment(0)?.takesAllLayers == true)
    }
    house.run(seconds: 60) { house in for index in 1...3 { house.viewers[index].estimateKbps = 9000 } }
    #expect(house.kbps(.high) == 2500 && house.changes(0) == 0)
    #expect(house.steps.dropFirst().allSatisfy { $0 == .middle || $0 == .low })
    // Nor one that comes and has not been measured yet.
    var new = RenditionHouse()
    new.add(700, since: .zero)
    new.viewers[0].limitKbps = 700
    new.look()
    new.add(nil)
    new.look()
    #expect(new.kbps(.high) == 1225 && new.step(0) == .middle)
  }

  @Test func aSmallCameraHasNoRenditionThatIsHardlySmaller() {
    var house = RenditionHouse()
    house.size = (640, 480)
    house.add(240, since: .zero)
    house.add(100, since: .zero)
    house.look()
    #expect(house.steps == [.high, .low] && house.kbps(.high) == 200)
    var tiny = RenditionHouse()
    tiny.size = (320, 240)
    tiny.add(70, since: .zero)
    tiny.look()
    #expect(tiny.step(0) == .stills && tiny.allocation.targets[.high]?.isStillsOnly == true)
  }

  @Test func oneWeakViewerAmongFifteenChangesNothingForTheOthers() {
    var house = RenditionHouse()
    for _ in 0..<15 { house.add(5000, since: .zero) }
    house.look()
    let before = house.kbps(.high)
    house.add(400, since: .zero)
    house.run(seconds: 60) { house in
      house.viewers[15].estimateKbps = 300 + Int(house.now.nanoseconds / 1_000_000) % 200
    }
    #expect(house.kbps(.high) == before)
    #expect(house.viewers.indices.prefix(15).allSatisfy { house.step($0) == .high && house.changes($0) == 0 })
    #expect(house.viewers.indices.prefix(15).allSatisfy { house.assignment($0)?.takesAllLayers == true })
    #expect(house.step(15) == .middle)
  }

  @Test func aSlowerViewerLowersTheRateByThreePercentAtMostOrGetsTheBaseLayer() {
    let near = RenditionHouse(2000, 1950)
    #expect(near.steps == [.high, .high] && near.kbps(.high) == 1607)
    #expect(near.assignment(1)?.takesAllLayers == true)
    var slower = RenditionHouse(2000, 1600)
    slower.run(seconds: 30)
    #expect(slower.steps == [.high, .high] && slower.kbps(.high) == 1600)
    #expect(slower.assignment(1)?.takesAllLayers == false && slower.assignment(0)?.takesAllLayers == true)
    #expect(RenditionHouse(2000, 1400).steps == [.high, .middle], "not even the base layer fits")
  }

  /// A token's player that reports a narrow path, before and after an owner comes whose path has not been measured for long.
  @Test(arguments: [(640, 360), (1280, 720)], [true, false])
  func whoeverWasLentAccessLowersNobodysPicture(_ size: (Int, Int), _ isFirst: Bool) {
    var house = RenditionHouse()
    house.size = size
    house.viewers = []
    let (lent, owner) = isFirst ? (0, 1) : (1, 0)
    if isFirst {
      house.add(700, since: .zero, isLent: true)
      house.run(seconds: 5)
      house.add(3300)
    } else {
      house.add(3300)
      house.run(seconds: 2)
      house.add(nil, isLent: true)
    }
    house.run(seconds: 30) { house in
      house.viewers[lent].estimateKbps = 235
      #expect(house.kbps(.high) ?? 2500 == 2500 || house.assignment(owner) == nil)
    }
    #expect(house.kbps(.high) == 2500 && house.step(owner) == .high && house.changes(owner) == 0)
    #expect(house.step(lent).map { $0 < .high } == true)
    // Nearly as fast as the owner's path: it lowers nothing either.
    var near = RenditionHouse(2000)
    near.add(1950, since: .zero, isLent: true)
    near.look()
    #expect(near.kbps(.high) == 1650 && near.assignment(1)?.takesAllLayers == true)
    // By itself it gets what its path carries.
    var alone = RenditionHouse()
    alone.add(2000, since: .zero, isLent: true)
    alone.look()
    #expect(alone.kbps(.high) == 1650)
  }

  /// Nor does a slower parent, while the other one's path is not measured to its end.
  @Test func aPathThatHasCarriedMoreAlreadyCountsBeforeItIsMeasured() {
    var house = RenditionHouse(700)
    #expect(house.kbps(.high) == 600)
    house.add(nil)
    house.run(seconds: 1)
    #expect(house.kbps(.high) == 600, "nothing is known of it yet")
    house.viewers[1].estimateKbps = 3300
    house.run(seconds: 8)
    #expect(house.kbps(.high).map { $0 > 1500 } == true && house.step(1) == .high && house.step(0) == .middle)
  }

  @Test func aWeakViewerDoesNotLowerTheMiddleRenditionEither() {
    let house = RenditionHouse(3000, 550, 310)
    #expect(house.steps == [.high, .middle, .low])
    #expect(house.kbps(.middle) == 417 && house.kbps(.low) == 120)
  }

  @Test func itGoesDownAtOnceAndUpAfterFiveSecondsWithASurplus() {
    var house = RenditionHouse(3000)
    house.viewers[0].estimateKbps = 400
    house.look()
    #expect(house.step(0) == .middle)
    // Enough to stay, not to come back.
    house.viewers[0].estimateKbps = 640
    house.run(seconds: 60)
    #expect(house.step(0) == .middle)
    house.viewers[0].estimateKbps = 660
    house.run(seconds: 4.9)
    #expect(house.step(0) == .middle)
    house.run(seconds: 0.3)
    #expect(house.step(0) == .high)
  }

  @Test func fromTheBottomItComesBackToTheTopInOneStepAndSoonerWhereThereIsPlenty() {
    var house = RenditionHouse(25)
    house.viewers[0].estimateKbps = 3000
    house.run(seconds: 0.9)
    #expect(house.step(0) == .soundAlone)
    house.run(seconds: 0.3)
    #expect(house.step(0) == .high && house.kbps(.high) == 2500 && house.changes(0) == 1)
  }

  @Test(arguments: [(1, 3.9, 0.3), (5, 19.9, 0.3), (15, 59.9, 0.3), (31, 59.9, 0.3)])
  func theMoreOthersWatchAPictureTheLongerAViewerWaitsToJoinThem(others: Int, waits: Double, then: Double) {
    var house = RenditionHouse(6000)
    for _ in 0..<others { house.add(6000, since: .zero) }
    house.look()
    house.viewers[0].estimateKbps = 400
    house.run(seconds: 1)
    house.viewers[0].estimateKbps = 6000
    house.run(seconds: waits)
    #expect(house.step(0) == .middle)
    house.run(seconds: then)
    #expect(house.step(0) == .high)
  }

  @Test func itSaysWhenARiseIsDueSoThatNobodyWaitsForTheNextEstimate() throws {
    var house = RenditionHouse(50)
    #expect(house.allocator.nextRise == nil)
    house.viewers[0].estimateKbps = 2000
    house.look()
    #expect(house.allocator.nextRise == house.now + .seconds(1))
    house.now = try #require(house.allocator.nextRise)
    house.look()
    #expect(house.step(0) == .high)
    #expect(house.allocator.nextRise == nil)
  }

  @Test func whoLosesAPictureForGoodGoesOnWithASmallerOneForAWhile() {
    var house = RenditionHouse(3000, 3000)
    #expect(house.steps == [.high, .high])
    let repair = house.repair(.high, 1)
    #expect(repair == .smallerRendition)
    house.look()
    #expect(house.steps == [.high, .middle] && house.kbps(.high) == 2500)
    house.run(seconds: 29)
    #expect(house.steps == [.high, .middle])
    house.run(seconds: 7)
    #expect(house.steps == [.high, .high])
    // Again soon after it came back: the next try waits longer.
    let repairAgain = house.repair(.high, 1)
    #expect(repairAgain == .smallerRendition)
    house.run(seconds: 39)
    #expect(house.steps == [.high, .middle])
    house.run(seconds: 2)
    #expect(house.steps == [.high, .high])
  }

  /// What was lost for good once will be again, and the others would get a key frame each time.
  @Test func whoLosesMuchDoesNotComeBackToAPictureThatManyWatch() {
    var house = RenditionHouse(3000, 3000, 3000, 3000, 3000)
    house.viewers[1].fractionLost = 0.2
    house.viewers[2].fractionLost = 0.02
    house.look()
    // Loss that is repaired is no reason to go.
    #expect(house.steps == [.high, .high, .high, .high, .high])
    for viewer in 1...2 {
      let repair = house.repair(.high, viewer)
      #expect(repair == .smallerRendition)
    }
    house.run(seconds: 120)
    #expect(house.steps == [.high, .middle, .high, .high, .high])
    house.viewers[1].fractionLost = 0.04
    house.run(seconds: 15.9)
    #expect(house.step(1) == .middle)
    house.run(seconds: 0.3)
    #expect(house.step(1) == .high)
    // Having come back, it goes no sooner than others.
    house.viewers[1].fractionLost = 0.2
    house.run(seconds: 60)
    #expect(house.step(1) == .high)
  }

  @Test func whoLosesMuchComesBackWhereFewGetTheKeyFrame() {
    var house = RenditionHouse(3000, 3000, 3000, 3000)
    house.viewers[3].fractionLost = 0.2
    let repair = house.repair(.high, 3)
    #expect(repair == .smallerRendition)
    house.run(seconds: 60)
    #expect(house.steps == [.high, .high, .high, .middle])
    house.viewers.removeFirst()
    house.run(seconds: 8.2)
    #expect(house.steps == [.high, .high, .high])
  }

  @Test func whoComesDownBecauseOfLossDoesNotMakeThePictureOfANarrowPathTooLarge() {
    var house = RenditionHouse(3000, 400, 3000)
    house.viewers[2].fractionLost = 0.2
    house.look()
    #expect(house.steps == [.high, .middle, .high])
    let before = house.kbps(.middle)
    let repair = house.repair(.high, 2)
    #expect(repair == .smallerRendition)
    house.run(seconds: 10)
    #expect(house.steps == [.high, .middle, .middle] && house.kbps(.middle) == before)
    // By itself it has all that the rendition may have, and the other can come back all the same.
    house.viewers[1].estimateKbps = 200
    house.run(seconds: 10)
    #expect(house.steps == [.high, .low, .middle] && house.kbps(.middle) == 800)
    house.viewers[1].estimateKbps = 400
    house.run(seconds: 10)
    #expect(house.steps == [.high, .middle, .middle] && house.kbps(.middle) == before)
  }

  @Test func belowTheSmallestRenditionThereIsNothingToGoTo() {
    var house = RenditionHouse(100, 100)
    let repair = house.repair(.low, 0)
    #expect(repair == .keyFrame)
    house.size = (320, 240)
    let repairOfAll = house.repair(.high, 0)
    #expect(repairOfAll == .keyFrame)
  }

  @Test func anEstimateThatFallsALittleDoesNotChangeTheFrameRate() throws {
    var house = RenditionHouse(310)
    #expect(try house.step(0) == .middle && #require(house.assignment(0)).takesAllLayers == false)
    for (estimate, takesAll) in [(400, true), (305, true), (295, false), (310, false), (400, true), (310, true)] {
      house.viewers[0].estimateKbps = estimate
      house.look()
      #expect(try #require(house.assignment(0)).takesAllLayers == takesAll, "\(estimate)")
    }
  }

  /// Key frames are what such a path loses most easily.
  @Test func aViewerByItselfThatNeedsKeyFramesAgainAndAgainDoesWithoutTheUpperLayerAndThenGoesDown() throws {
    var house = RenditionHouse(3000)
    // Now and then is not again and again: there it does so for a moment.
    for _ in 0..<6 {
      let repair = house.repair(.high, 0, isShared: false)
      #expect(repair == .keyFrame)
      house.run(seconds: 1.5)
      #expect(try #require(house.assignment(0)).takesAllLayers == false)
      house.run(seconds: 3.6)
      #expect(try #require(house.assignment(0)).takesAllLayers)
    }
    house.run(seconds: 10)
    for number in 1...3 {
      let repair = house.repair(.high, 0, isShared: false)
      house.run(seconds: 2.5)
      #expect(repair == .keyFrame)
      #expect(try #require(house.assignment(0)).takesAllLayers == (number < 3))
    }
    #expect(house.step(0) == .high)
    for number in 1...3 {
      let repair = house.repair(.high, 0, isShared: false)
      house.run(seconds: 1)
      #expect(repair == (number < 3 ? .keyFrame : .smallerRendition))
    }
    #expect(house.step(0) == .middle)
    house.run(seconds: 40)
    #expect(try #require(house.assignment(0)).takesAllLayers && house.step(0) == .high)
  }

  /// What was lost on a path that was narrow says nothing about the picture that it carries now.
  @Test func anotherRenditionBeginsWithAllLayers() {
    var house = RenditionHouse(400)
    #expect(house.step(0) == .middle)
    for _ in 0..<3 { _ = house.repair(.middle, 0, isShared: false) }
    house.look()
    #expect(house.assignment(0)?.takesAllLayers == false)
    house.viewers[0].estimateKbps = 6000
    house.run(seconds: 1.2)
    #expect(house.step(0) == .high && house.assignment(0)?.takesAllLayers == true)
  }

  @Test func aTryThatFailedDelaysOnlyTheNextOneOfItsKind() {
    var house = RenditionHouse(60)
    for _ in 0..<4 {
      house.viewers[0].estimateKbps = 140
      house.run(seconds: 62)
      #expect(house.step(0) == .low)
      house.viewers[0].estimateKbps = 30
      house.run(seconds: 1)
      house.viewers[0].estimateKbps = 60
    }
    house.viewers[0].estimateKbps = 3000
    house.run(seconds: 2.2)
    #expect(house.step(0) == .high)
  }

  @Test(arguments: [(1000, 4.0), (2000, 0.9)])
  func anInterruptionBeginsTheWaitAnew(estimate: Int, seconds: Double) {
    var house = RenditionHouse(400)
    for _ in 0..<10 {
      house.viewers[0].estimateKbps = estimate
      house.run(seconds: seconds)
      house.viewers[0].estimateKbps = 400
      house.run(seconds: 0.1)
    }
    #expect(house.step(0) == .middle && house.changes(0) == 0)
  }

  @Test(arguments: [(210, 0.8, PictureStep.middle), (210, 1.2, .low), (190, 0.1, .low)])
  func aMomentWithoutTheReserveDoesNotCostTheMiddlePicture(estimate: Int, seconds: Double, step: PictureStep) {
    var house = RenditionHouse(400)
    house.look()
    house.viewers[0].estimateKbps = estimate
    house.run(seconds: seconds)
    #expect(house.step(0) == step)
    #expect(step == .low || house.assignment(0)?.takesAllLayers == false)
  }

  @Test(arguments: [(220, 0.5, PictureStep.middle), (220, 1.2, .low), (190, 0.5, .low)])
  func aMomentWithALittleLessDoesNotBeginTheWaitAnew(estimate: Int, seconds: Double, step: PictureStep) {
    var house = RenditionHouse(100)
    house.viewers[0].estimateKbps = 300
    house.run(seconds: 4)
    house.viewers[0].estimateKbps = estimate
    house.run(seconds: seconds)
    house.viewers[0].estimateKbps = 300
    house.run(seconds: 1.2)
    #expect(house.step(0) == step)
  }

  @Test func anEstimateThatFlapsEachTenSecondsChangesThePictureLessAndLess() {
    var house = RenditionHouse(1000)
    house.run(seconds: 600) { house in
      let isWeak = Int((house.now - .zero).inSeconds) % 20 >= 10
      house.viewers[0].estimateKbps = isWeak ? 400 : 1000
    }
    // Each time down at once, but up only where five seconds were enough the last time.
    #expect((1...5).contains(house.changes(0)))
    // When it has become steady, it has its picture again.
    house.viewers[0].estimateKbps = 1000
    house.run(seconds: 61)
    #expect(house.step(0) == .high)
  }

  @Test func aRiseThatLastsMakesTheNextOneQuickAgain() {
    var house = RenditionHouse(1000)
    for _ in 0..<3 {
      house.viewers[0].estimateKbps = 400
      house.run(seconds: 1)
      house.viewers[0].estimateKbps = 1000
      house.run(seconds: 25)
    }
    house.run(seconds: 120)
    house.viewers[0].estimateKbps = 400
    house.look()
    house.viewers[0].estimateKbps = 1000
    house.run(seconds: 5.2)
    #expect(house.step(0) == .high)
  }

  @Test func aNewViewerIsNeitherLoweredNorLowersOthersBeforeItIsMeasured() {
    var house = RenditionHouse(5000, 5000)
    house.add(nil)
    house.look()
    #expect(house.step(2) == .high && house.assignment(2)?.takesAllLayers == true && house.kbps(.high) == 2500)
    // It rises with what it is sent.
    house.run(seconds: 12) { house in
      house.viewers[2].estimateKbps = min(3500, (house.viewers[2].estimateKbps ?? 1500) + 25)
    }
    #expect(house.changes(2) == 0 && house.kbps(.high) == 2500)
  }

  @Test func aNewViewerWhosePathIsWeakIsFoundOutAtOnce() {
    var house = RenditionHouse(5000, 5000)
    house.add(1500)
    house.run(seconds: 1)
    house.viewers[2].estimateKbps = 700
    house.look()
    #expect(house.step(2) == .middle && house.kbps(.high) == 2500)
  }

  @Test func estimatesOfSeveralRiseTogetherSoThatNobodyIsLeftBehind() {
    var house = RenditionHouse(1500, 1500)
    let first = house.kbps(.high) ?? 0
    // The second rises half as fast: both are the air of one home.
    house.run(seconds: 8) { house in
      for index in 0...1 {
        let estimate = house.viewers[index].estimateKbps ?? 0
        house.viewers[index].estimateKbps = min(4000, estimate + (index == 0 ? 60 : 30))
      }
    }
    #expect(house.steps == [.high, .high] && house.changes(1) == 0)
    #expect((house.kbps(.high) ?? 0) > first + 500)
  }

  @Test func anEncoderEndsWhenItsLastViewerLeavesOrIsBetterOff() {
    var house = RenditionHouse(3000, 400, 120)
    #expect(house.steps == [.high, .middle, .low])
    house.viewers[1].estimateKbps = 5000
    house.run(seconds: 6)
    #expect(house.steps == [.high, .high, .low] && house.kbps(.middle) == nil)
    house.viewers.removeLast()
    house.look()
    #expect(house.kbps(.low) == nil && house.kbps(.high) != nil)
    house.viewers = []
    house.look()
    #expect(house.kbps(.high) == 1500)
  }

  @Test func whenAllAreWeakTheCamerasOwnPictureIsEncodedOnlyForARecording() {
    var house = RenditionHouse(300, 300, 300)
    #expect(house.steps == [.middle, .middle, .middle] && house.kbps(.high) == nil && house.kbps(.middle) == 250)
    house.look(isRecorded: true)
    #expect(house.kbps(.high) == 1500 && house.kbps(.middle) == 250)
  }

  @Test func theRangeOfTheConfigurationIsThatOfTheHighRendition() {
    var house = RenditionHouse()
    house.allocator = RenditionAllocator(settings: .init(range: 1000...1200, startKbps: 1200))
    house.add(900, since: .zero)
    house.add(3000, since: .zero)
    house.look()
    #expect(house.steps == [.middle, .high] && house.kbps(.high) == 1200)
    // A household that allows so little wants the whole picture with it.
    var modest = RenditionHouse()
    modest.allocator = RenditionAllocator(settings: .init(range: 100...300, startKbps: 300))
    modest.add(400, since: .zero)
    modest.look()
    #expect(modest.step(0) == .high && modest.kbps(.high) == 300)
  }

  @Test func viewersThatComeAndGoLeaveNothingBehind() throws {
    var house = RenditionHouse()
    for number in 0..<1000 {
      house.viewers = [
        .init(id: PeerID(number: UInt64(number)), estimateKbps: 400, soundKbps: 50, since: .zero)
      ]
      house.look()
    }
    let known = try #require(Mirror(reflecting: house.allocator).descendant("states"))
    #expect(Mirror(reflecting: known).children.count == 1)
  }
}
