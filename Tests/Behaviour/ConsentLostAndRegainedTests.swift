import PeerConnection
import Simulation
import Testing
import Wire

@Suite struct ConsentLostAndRegainedTests {
  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func anOutageHealsByItself(seed: UInt64) throws {
    let pair = try SimulatedPair.connected(seed: seed, streaming: true)
    pair.camera!.interval = .milliseconds(66)
    pair.link.isCut = true
    let cut = pair.now
    #expect(pair.run(until: { pair.child.state == .disconnected }, limit: .seconds(8)))
    Measured.note("outage noticed after \(pair.now - cut)")
    #expect(pair.now - cut >= .seconds(4))
    pair.run(for: .seconds(15) + .milliseconds(Int64(seed) * 170))
    #expect(pair.parent.state == .disconnected)
    pair.link.isCut = false
    let back = pair.now
    let picture = try #require(pair.timeToNextPicture(limit: .seconds(5)))
    #expect(pair.run(until: { pair.isConnected }, limit: .seconds(5)))
    Measured.note("outage over: picture after \(picture), connected after \(pair.now - back)")
    #expect(picture <= .seconds(1))
    #expect(pair.now - back <= .seconds(2))
    #expect(pair.viewer.brokenPictures == 0)
  }

  /// A restart runs while consent for the old pair runs out. RFC 7675 section 5.1.
  @Test func nothingButChecksIsSentWithoutConsentUntilItIsRegained() throws {
    let pair = try SimulatedPair.connected(streaming: true)
    pair.camera!.interval = .milliseconds(66)
    pair.link.isCut = true
    pair.run(for: .seconds(27))
    let ours = try pair.parent.beginICERestart(now: pair.now)
    let theirs = try pair.child.restartICE(
      ufrag: ours.ufrag, pwd: ours.pwd, candidates: ours.candidates, now: pair.now)
    try pair.parent.completeICERestart(
      ufrag: theirs.ufrag, pwd: theirs.pwd, candidates: theirs.candidates, now: pair.now)
    pair.drain()
    pair.run(for: .milliseconds(3500))
    #expect(pair.child.selectedPair == nil && pair.parent.selectedPair == nil)
    var kinds: Set<DatagramKind> = []
    pair.onSend = { kinds.insert(kind(of: $1)) }
    pair.run(for: .seconds(5))
    #expect(kinds == [.stun])
    pair.onSend = nil
    pair.link.isCut = false
    let picture = try #require(pair.timeToNextPicture(limit: .seconds(5)))
    #expect(pair.run(until: { pair.isConnected }, limit: .seconds(1)))
    Measured.note("consent regained: picture after \(picture)")
    #expect(picture <= .seconds(2))
    #expect(pair.viewer.brokenPictures == 0)
    pair.camera = nil
    pair.microphone = nil
    pair.run(for: .seconds(40))
    #expect(pair.isConnected)
  }

  @Test func consentLostForGoodEndsBothSidesAndSilencesThem() throws {
    let pair = try SimulatedPair.connected()
    pair.link.isCut = true
    pair.run(for: .seconds(31))
    #expect(pair.child.state == .failed && pair.parent.state == .failed)
    var sent = 0
    pair.onSend = { _, _ in sent += 1 }
    pair.link.isCut = false
    pair.run(for: .seconds(10))
    #expect(sent == 0)
    // It is regained by meeting anew.
    let again = try SimulatedPair.connected(seed: 2, streaming: true)
    #expect(again.isConnected)
  }

  /// Answers that come are no consent for the one whose questions do not arrive.
  @Test func aPathThatWorksOneWayOnlyIsGivenUp() throws {
    let pair = try SimulatedPair.connected()
    pair.toParent.isCut = true
    let cut = pair.now
    #expect(pair.run(until: { pair.child.state == .failed }, limit: .seconds(40)))
    #expect(pair.now - cut <= .seconds(31))
  }

  @Test(arguments: 1...2 as ClosedRange<UInt64>)
  func consentSurvivesLongHeavyLoss(seed: UInt64) throws {
    let pair = try SimulatedPair.connected(seed: seed)
    pair.link = .init(delay: .milliseconds(30), jitter: .milliseconds(50), loss: 0.3)
    for _ in 0..<20 {
      pair.run(for: .seconds(60))
      try #require(!pair.child.state.isOver && !pair.parent.state.isOver)
    }
  }
}
