import PeerConnection
import Simulation
import Testing
import Wire

@Suite struct KeyFrameRequestedOnceTests {
  /// Outages of many lengths, each ended by one key frame.
  @Test(arguments: [400, 700, 1000, 1500, 2500, 4000] as [Int64])
  func anOutageEndsWithOneRequest(milliseconds: Int64) throws {
    let pair = try SimulatedPair.connected(seed: UInt64(milliseconds), streaming: true)
    pair.toParent.isCut = true
    pair.run(for: .milliseconds(milliseconds))
    let before = pair.camera!.requests.count
    pair.toParent.isCut = false
    let picture = try #require(pair.timeToNextPicture(limit: .seconds(3)))
    pair.run(for: .seconds(3))
    let requests = pair.camera!.requests.count - before
    Measured.note(
      "outage of \(milliseconds) ms: picture after \(picture), \(before) requests in it, \(requests) after it, PLI \(pair.pliCount)"
    )
    #expect(picture <= .milliseconds(400))
    #expect(pair.pliCount <= 1)
    // The sender itself may have given up what it could not get out.
    #expect(requests <= 2)
    #expect(pair.viewer.brokenPictures == 0)
  }

  @Test(arguments: [10, 100, 300] as [Int64])
  func aLongWayThereAndBackDoesNotDoubleTheRequest(delay: Int64) throws {
    let pair = try SimulatedPair.connected(streaming: true)
    pair.link.delay = .milliseconds(delay)
    pair.run(for: .seconds(6))
    let before = pair.camera!.requests.count
    pair.parent.requestKeyFrame(decoderFailed: true, now: pair.now)
    pair.drain()
    pair.run(for: .seconds(3))
    #expect(pair.camera!.requests.count == before + 1)
    #expect(pair.viewer.brokenPictures == 0)
  }

  @Test func aSlowEncoderIsNotAskedForMore() throws {
    let pair = try SimulatedPair.connected(streaming: true)
    pair.camera!.keyFrameDelay = .milliseconds(800)
    let before = (requests: pair.camera!.requests.count, keyFrames: pair.camera!.keyFrames.count)
    pair.parent.requestKeyFrame(decoderFailed: true, now: pair.now)
    pair.drain()
    pair.run(for: .seconds(5))
    let requests = pair.camera!.requests.count - before.requests
    Measured.note("encoder takes 800 ms: \(requests) requests")
    #expect(requests <= 3)
    #expect(pair.camera!.keyFrames.count - before.keyFrames <= 1)
  }

  @Test func anEncoderThatNeverAnswersIsAskedEverMoreRarely() throws {
    let pair = try SimulatedPair.connected(streaming: true)
    pair.camera!.keyFrameDelay = nil
    pair.camera!.interval = .milliseconds(100)
    pair.microphone = nil
    pair.parent.requestKeyFrame(decoderFailed: true, now: pair.now)
    pair.drain()
    pair.run(for: .seconds(10))
    let first = pair.camera!.requests.count
    pair.run(for: .seconds(30))
    let later = pair.camera!.requests.count - first
    Measured.note("encoder never answers: \(first) requests in 10 s, \(later) in the 30 s after")
    #expect(first <= 9)
    #expect((12...16).contains(later))
  }

  @Test func aDecoderThatComplainsAboutEveryPictureMakesNoStorm() throws {
    let pair = try SimulatedPair.connected(streaming: true)
    let before = pair.camera!.requests.count
    for _ in 0..<100 {
      pair.parent.requestKeyFrame(decoderFailed: true, now: pair.now)
      pair.drain()
      pair.run(for: .milliseconds(100))
    }
    let requests = pair.camera!.requests.count - before
    Measured.note("a decoder that fails for 10 s: \(requests) requests")
    #expect((4...12).contains(requests))
  }

  /// Half of what the viewer says gets lost: it says it again.
  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func aLostRequestIsMadeAgain(seed: UInt64) throws {
    let pair = try SimulatedPair.connected(seed: seed, streaming: true)
    pair.toChild.loss = 0.5
    pair.toParent.isCut = true
    pair.run(for: .seconds(1))
    pair.toParent.isCut = false
    let picture = try #require(pair.timeToNextPicture(limit: .seconds(8)))
    Measured.note("requests half lost: picture after \(picture)")
    pair.run(for: .seconds(3))
    #expect(pair.viewer.brokenPictures == 0)
  }

  @Test func aViewerThatComesInTheMiddleAsksOnce() throws {
    let pair = SimulatedPair()
    pair.camera = TestCamera()
    // The first key frame goes nowhere: nobody is connected yet.
    pair.run(for: .seconds(1))
    try pair.exchangeDescriptions()
    #expect(pair.run(until: { !pair.viewer.pictures.isEmpty }, limit: .seconds(2)))
    pair.run(for: .seconds(5))
    Measured.note("viewer in the middle: \(pair.camera!.requests.count) requests")
    #expect(pair.camera!.requests.count == 1)
    #expect(pair.viewer.pictures.first?.isKeyFrame == true && pair.viewer.brokenPictures == 0)
  }

  @Test(arguments: 1...2 as ClosedRange<UInt64>)
  func heavyLossMakesNoStorm(seed: UInt64) throws {
    let pair = try SimulatedPair.connected(seed: seed, streaming: true)
    pair.link = .init(delay: .milliseconds(20), jitter: .milliseconds(20), loss: 0.3)
    pair.run(for: .seconds(10))
    let requests = pair.camera!.requests.count
    Measured.note("30 % loss for 10 s: \(requests) requests, \(pair.viewer.pictures.count) pictures")
    #expect(requests <= 12)
    #expect(pair.viewer.brokenPictures == 0)
  }
}
