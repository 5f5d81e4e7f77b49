import ICE
import PeerConnection
import SCTP
import SDP
import Simulation
import Testing
import Wire

@Suite struct BothStartAtOnceTests {
  /// An offer that calls itself lite makes the answerer controlling, and the offerer is so anyway: the conflict is for the
  /// agents to repair. RFC 8445 section 7.3.1.1.
  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func twoControllingAgentsAgree(seed: UInt64) throws {
    let pair = SimulatedPair(seed: seed)
    pair.link = .init(delay: .milliseconds(10), jitter: .milliseconds(5), loss: 0.1)
    let offer = try pair.parent.offer(wantsDataChannel: true, now: pair.now)
    var lite = offer
    lite.isICELite = true
    let answer = try pair.child.answer(lite, now: pair.now)
    try pair.parent.accept(try SessionDescription(parsing: answer.description), now: pair.now)
    pair.drain()
    let start = pair.now
    #expect(pair.run(until: { pair.isConnected }, limit: .seconds(5)))
    Measured.note("role conflict: connected after \(pair.now - start)")
    pair.run(for: .seconds(5))
    #expect(pair.child.statistics(now: pair.now).iceState == .completed)
    #expect(pair.parent.statistics(now: pair.now).iceState == .completed)
    pair.run(for: .seconds(40))
    #expect(pair.isConnected)
  }

  /// Each end of a WebRTC association sends INIT: they always cross. RFC 9260 section 5.2.1.
  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func dataChannelsOpenedByBothAtTheSameMomentAreTwo(seed: UInt64) throws {
    let pair = SimulatedPair(seed: seed)
    pair.link = .init(delay: .milliseconds(15), jitter: .milliseconds(10), loss: 0.1, duplication: 0.1)
    try pair.exchangeDescriptions()
    try #require(pair.run(until: { pair.isConnected }, limit: .seconds(10)))
    let parents = try pair.parent.openDataChannel(DataChannelParameters(label: "a"), now: pair.now)
    let childs = try pair.child.openDataChannel(DataChannelParameters(label: "b"), now: pair.now)
    try pair.parent.send(.text("from the parent"), on: parents, now: pair.now)
    try pair.child.send(.text("from the child"), on: childs, now: pair.now)
    pair.drain()
    #expect(parents != childs)
    func received(_ events: [PeerConnectionEvent]) -> [String] {
      events.compactMap { if case .dataChannelMessage(_, .text(let text)) = $0 { text } else { nil } }
    }
    #expect(
      pair.run(
        until: { received(pair.childEvents).count == 1 && received(pair.parentEvents).count == 1 }, limit: .seconds(20))
    )
    pair.run(for: .seconds(5))
    #expect(received(pair.childEvents) == ["from the parent"])
    #expect(received(pair.parentEvents) == ["from the child"])
  }

  @Test func twoOffersThatCrossAreBothRefusedAndBothStillWait() throws {
    let pair = SimulatedPair()
    let ours = try pair.parent.offer(wantsDataChannel: false, now: pair.now)
    let theirs = try pair.child.offer(wantsDataChannel: false, now: pair.now)
    #expect(throws: PeerConnectionError.self) { try pair.child.answer(ours, now: pair.now) }
    #expect(throws: PeerConnectionError.self) { try pair.parent.answer(theirs, now: pair.now) }
    // One of them gives way, as a new connection.
    let other = SimulatedPair(seed: 2)
    let answer = try other.child.answer(try SessionDescription(parsing: ours.description), now: pair.now)
    try pair.parent.accept(try SessionDescription(parsing: answer.description), now: pair.now)
    #expect(pair.parent.state == .connecting)
  }
}
