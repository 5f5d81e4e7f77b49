import Frames
import TestSupport
import Testing
import Wire

@testable import Pipelines

@Suite struct RenditionOrdersTests {
  private var orders = RenditionOrders(startKbps: 1500, framesPerSecond: 30)

  private mutating func take(_ milliseconds: Int) -> [RenditionOrders.Order] {
    orders.take(captureTime: .zero + .milliseconds(milliseconds), now: .zero + .milliseconds(milliseconds))
  }

  private mutating func set(high: Int?, middle: Int? = nil, low: Int? = nil, isStillsOnly: Bool = false) {
    orders.targets = PerRendition { rendition in
      let kbps = rendition == .high ? high : rendition == .middle ? middle : rendition == .low ? low : nil
      return kbps.map { RenditionTarget(kbps: $0, isStillsOnly: isStillsOnly && rendition == .low) }
    }
  }

  @Test mutating func aRenditionThatBeginsDoesSoWithAKeyFrameOfItsOwn() {
    #expect(take(0) == [.init(rendition: .high, kbps: 1500, isKeyFrame: false)])
    set(high: 1000, middle: 300)
    // First, so that who changes to it gets it instead of the other.
    #expect(
      take(33) == [
        .init(rendition: .middle, kbps: 300, isKeyFrame: true), .init(rendition: .high, kbps: 1000, isKeyFrame: false),
      ])
    set(high: 1100, middle: 250)
    #expect(take(66).allSatisfy { !$0.isKeyFrame })
    set(high: nil, middle: 250)
    #expect(take(100).map(\.rendition) == [.middle])
    set(high: 900, middle: nil)
    #expect(take(133) == [.init(rendition: .high, kbps: 900, isKeyFrame: true)])
  }

  @Test mutating func theLowRenditionHasTenPicturesASecond() {
    set(high: nil, low: 100)
    let taken = (0..<300).filter { !take($0 * 100 / 3).isEmpty }
    #expect(taken.count == 100)
    #expect(zip(taken, taken.dropFirst()).allSatisfy { $1 - $0 == 3 })
  }

  @Test(arguments: [15.0, 25, 30, 60])
  func anyCamerasPicturesArePickedEvenly(_ rate: Double) {
    var cadence = Cadence(of: 10, outOf: rate)
    var random = SeededGenerator(seed: 18)
    var taken: [Double] = []
    for index in 0..<Int(rate * 60) {
      let time = Double(index) / rate + Double.random(in: -0.003...0.003, using: &random)
      if cadence.takes(.zero + .seconds(10 + time)) { taken.append(time) }
    }
    #expect((550...650).contains(taken.count))
    #expect(zip(taken, taken.dropFirst()).allSatisfy { $1 - $0 < 0.2 })
  }

  @Test mutating func ofStillsOnlyWhatIsAskedForIsEncoded() {
    set(high: nil, low: 40, isStillsOnly: true)
    #expect(take(0) == [.init(rendition: .low, kbps: 40, isKeyFrame: true)])
    orders.noteKeyFrame(of: .low, at: .zero)
    #expect((1..<30).allSatisfy { take($0 * 33).isEmpty })
    orders.requestKeyFrame(of: .low, spacing: .seconds(4), patience: .zero, now: .zero + .seconds(1))
    #expect(take(3990).isEmpty && take(4000).count == 1 && take(4100).isEmpty)
    // When somebody comes for more, it goes on with a key frame: what was in between has not been encoded.
    set(high: nil, low: 40)
    #expect(take(4200) == [.init(rendition: .low, kbps: 40, isKeyFrame: true)] && take(4300).count == 1)
  }

  @Test mutating func aKeyFrameAnswersAllWhoWaitForIt() {
    set(high: 1000, middle: 300)
    _ = take(0)
    orders.noteKeyFrame(of: .middle, at: .zero + .milliseconds(1))
    for time in [100, 500, 900] {
      orders.requestKeyFrame(
        of: .middle, spacing: .seconds(3), patience: .milliseconds(500), now: .zero + .milliseconds(time))
    }
    #expect((1...90).allSatisfy { index in take(index * 33).allSatisfy { !$0.isKeyFrame } }, "three seconds apart")
    // Somebody else cannot go on without one.
    orders.requestKeyFrame(of: .middle, spacing: .milliseconds(300), patience: .zero, now: .zero + .milliseconds(2980))
    #expect(take(2990).first == .init(rendition: .middle, kbps: 300, isKeyFrame: true))
    orders.noteKeyFrame(of: .middle, at: .zero + .milliseconds(2990))
    #expect((91...300).allSatisfy { index in take(index * 33).allSatisfy { !$0.isKeyFrame } })
  }

  @Test mutating func aKeyFrameThatFailedIsOwed() {
    set(high: 1000, middle: 300)
    let order = take(0)[0]
    orders.failed(order)
    #expect(take(33).first == order)
  }
}
