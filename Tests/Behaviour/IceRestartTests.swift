import ICE
import PeerConnection
import Simulation
import Testing
import Wire

@Suite struct IceRestartTests {
  /// The viewer restarts by WHEP, whose request and response take their time.
  private func restart(_ pair: SimulatedPair) throws {
    let ours = try pair.parent.beginICERestart(now: pair.now)
    pair.drain()
    pair.run(for: .milliseconds(150))
    let theirs = try pair.child.restartICE(
      ufrag: ours.ufrag, pwd: ours.pwd, candidates: ours.candidates, now: pair.now)
    pair.drain()
    pair.run(for: .milliseconds(100))
    try pair.parent.completeICERestart(
      ufrag: theirs.ufrag, pwd: theirs.pwd, candidates: theirs.candidates, now: pair.now)
    pair.drain()
  }

  private func usesNewPair(_ pair: SimulatedPair, instead old: (parent: Int?, child: Int?)) -> Bool {
    pair.parent.selectedPair?.id != old.parent && pair.child.selectedPair?.id != old.child
  }

  private func selected(_ pair: SimulatedPair) -> (parent: Int?, child: Int?) {
    (pair.parent.selectedPair?.id, pair.child.selectedPair?.id)
  }

  private func stateChanges(_ events: [PeerConnectionEvent]) -> [PeerConnectionState] {
    events.compactMap { if case .stateChanged(let state) = $0 { state } else { nil } }
  }

  @Test(arguments: 1...2 as ClosedRange<UInt64>)
  func aRestartWhileStreamingInterruptsNothing(seed: UInt64) throws {
    let pair = try SimulatedPair.connected(seed: seed, streaming: true)
    let (start, old) = (pair.now, selected(pair))
    try restart(pair)
    #expect(pair.run(until: { usesNewPair(pair, instead: old) }, limit: .milliseconds(200)))
    pair.run(for: .seconds(10))
    #expect(pair.viewer.longestFreeze(from: start, to: pair.now) <= .milliseconds(50))
    #expect(pair.viewer.pictures.map(\.number) == Array(0..<pair.viewer.pictures.count))
    #expect(pair.viewer.concealments == 0 && pair.viewer.brokenSounds == 0)
    #expect(pair.pliCount == 0)
    #expect(stateChanges(pair.parentEvents) == [.connecting, .connected])
    #expect(stateChanges(pair.childEvents) == [.connecting, .connected])
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func aRestartUnderLossCompletesWhileThePictureGoesOn(seed: UInt64) throws {
    let pair = try SimulatedPair.connected(seed: seed, streaming: true)
    pair.link = .init(delay: .milliseconds(20), jitter: .milliseconds(10), loss: 0.1)
    let (start, old) = (pair.now, selected(pair))
    try restart(pair)
    let begun = pair.now
    #expect(pair.run(until: { usesNewPair(pair, instead: old) }, limit: .seconds(5)))
    Measured.note("restart at 10 % loss: \(pair.now - begun)")
    pair.run(for: .seconds(2))
    Measured.note("freeze in it: \(pair.viewer.longestFreeze(from: start, to: pair.now))")
    #expect(pair.viewer.longestFreeze(from: start, to: pair.now) <= .milliseconds(700))
    #expect(pair.viewer.brokenPictures == 0)
    #expect(pair.isConnected)
  }

  /// A restart alone changes no certificate, so there is no new handshake.
  @Test func theKeysStayWhenThePathChanges() throws {
    let pair = try SimulatedPair.encrypted(streaming: true)
    let (start, old) = (pair.now, selected(pair))
    var handshakes = 0
    pair.onSend = { if $1.first == 22 { handshakes += 1 } }
    try restart(pair)
    #expect(pair.run(until: { usesNewPair(pair, instead: old) }, limit: .milliseconds(200)))
    pair.run(for: .seconds(3))
    #expect(handshakes == 0)
    #expect(pair.parent.statistics(now: pair.now).refusedPackets == 0)
    #expect(pair.viewer.longestFreeze(from: start, to: pair.now) <= .milliseconds(50))
  }

  @Test func theOldPairStaysWhileNoAnswerComes() throws {
    let pair = try SimulatedPair.connected(streaming: true)
    pair.camera!.interval = .milliseconds(100)
    let (start, old) = (pair.now, selected(pair))
    _ = try pair.parent.beginICERestart(now: pair.now)
    pair.drain()
    pair.run(for: .seconds(65))
    #expect(selected(pair) == old)
    #expect(pair.isConnected)
    #expect(pair.viewer.longestFreeze(from: start, to: pair.now) <= .milliseconds(150))
  }

  @Test func aRestartThatIsNeverAnsweredEndsWithItsPair() throws {
    let pair = try SimulatedPair.connected()
    _ = try pair.parent.beginICERestart(now: pair.now)
    pair.drain()
    pair.run(for: .seconds(5))
    pair.link.isCut = true
    let cut = pair.now
    #expect(pair.run(until: { pair.parent.state == .failed && pair.child.state == .failed }, limit: .seconds(60)))
    #expect(pair.now - cut <= .seconds(31))
    #expect(pair.parent.nextDeadline == nil)
  }

  @Test func aRestartBegunOnceMoreReplacesTheOneBefore() throws {
    let pair = try SimulatedPair.connected(streaming: true)
    let old = selected(pair)
    let first = try pair.parent.beginICERestart(now: pair.now)
    _ = try pair.child.restartICE(ufrag: first.ufrag, pwd: first.pwd, candidates: first.candidates, now: pair.now)
    pair.drain()
    pair.run(for: .seconds(1))
    let start = pair.now
    try restart(pair)
    #expect(pair.run(until: { usesNewPair(pair, instead: old) }, limit: .seconds(1)))
    pair.run(for: .seconds(5))
    #expect(pair.isConnected)
    #expect(pair.viewer.longestFreeze(from: start, to: pair.now) <= .milliseconds(50))
  }

  @Test func anAnswerToNoRestartIsRefusedAndChangesNothing() throws {
    let pair = try SimulatedPair.connected(streaming: true)
    let old = selected(pair)
    #expect(throws: PeerConnectionError.self) {
      try pair.parent.completeICERestart(
        ufrag: "abcd", pwd: "abcdefghijklmnopqrstuvwx", candidates: [], now: pair.now)
    }
    let start = pair.now
    pair.run(for: .seconds(10))
    #expect(selected(pair) == old && pair.isConnected)
    #expect(pair.viewer.longestFreeze(from: start, to: pair.now) <= .milliseconds(50))
  }

  @Test func aRestartDuringAnOutageTakesOverWhenThePathIsBack() throws {
    let pair = try SimulatedPair.connected(streaming: true)
    let old = selected(pair)
    pair.link.isCut = true
    pair.run(for: .seconds(8))
    try restart(pair)
    pair.run(for: .seconds(3))
    pair.link.isCut = false
    let back = pair.now
    #expect(pair.run(until: { usesNewPair(pair, instead: old) && pair.isConnected }, limit: .seconds(2)))
    Measured.note("restart during an outage, path back to connected: \(pair.now - back)")
  }
}
