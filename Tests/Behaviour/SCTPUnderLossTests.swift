import PeerConnection
import SCTP
import Simulation
import Testing
import Wire

@Suite struct SCTPUnderLossTests {
  private static let lossy = SimulatedPair.Link(
    delay: .milliseconds(10), jitter: .milliseconds(20), loss: 0.2, duplication: 0.05, reordering: 0.05)

  private func texts(_ events: [PeerConnectionEvent]) -> [String] {
    events.compactMap { if case .dataChannelMessage(_, .text(let text)) = $0 { text } else { nil } }
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func everyMessageArrivesOnceAndInOrderBothWays(seed: UInt64) throws {
    let pair = try SimulatedPair.connected(seed: seed, link: Self.lossy)
    let channel = try pair.parent.openDataChannel(
      DataChannelParameters(label: "control", protocolName: "cradle.control.v1"), now: pair.now)
    for number in 0..<100 { try pair.parent.send(.text("message \(number)"), on: channel, now: pair.now) }
    pair.drain()
    func isOpen() -> Bool {
      pair.childEvents.contains {
        if case .dataChannelOpened(channel, let parameters, true) = $0 { parameters.label == "control" } else { false }
      }
    }
    #expect(pair.run(until: isOpen, limit: .seconds(30)))
    for number in 0..<100 { try pair.child.send(.text("answer \(number)"), on: channel, now: pair.now) }
    pair.drain()
    let start = pair.now
    #expect(
      pair.run(
        until: { texts(pair.childEvents).count >= 100 && texts(pair.parentEvents).count >= 100 }, limit: .seconds(120)))
    Measured.note("200 messages at 20 % loss: \(pair.now - start)")
    pair.run(for: .seconds(5))
    #expect(texts(pair.childEvents) == (0..<100).map { "message \($0)" })
    #expect(texts(pair.parentEvents) == (0..<100).map { "answer \($0)" })
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func largeMessagesAreWhole(seed: UInt64) throws {
    let pair = try SimulatedPair.connected(seed: seed, link: Self.lossy)
    let channel = try pair.parent.openDataChannel(DataChannelParameters(label: "snapshot"), now: pair.now)
    let messages = (0..<4).map { TestPicture(number: $0, isKeyFrame: true, byteCount: 60_000).bytes }
    for message in messages { try pair.parent.send(.binary(message), on: channel, now: pair.now) }
    pair.drain()
    func received() -> [[UInt8]] {
      pair.childEvents.compactMap { if case .dataChannelMessage(_, .binary(let bytes)) = $0 { bytes } else { nil } }
    }
    let start = pair.now
    #expect(pair.run(until: { received().count >= messages.count }, limit: .seconds(120)))
    Measured.note("240 kB at 20 % loss: \(pair.now - start)")
    #expect(received() == messages)
    #expect(pair.parent.bufferedAmount(of: channel) == 0)
  }

  /// Messages of the control channel must not wait behind pictures, nor pictures behind them.
  @Test func messagesAndPicturesShareALossyPath() throws {
    let pair = try SimulatedPair.connected(streaming: true)
    pair.link = .init(delay: .milliseconds(20), loss: 0.05)
    let channel = try pair.parent.openDataChannel(DataChannelParameters(label: "control"), now: pair.now)
    for number in 0..<50 {
      try pair.parent.send(.text("\(number)"), on: channel, now: pair.now)
      pair.drain()
      pair.run(for: .milliseconds(100))
    }
    pair.run(for: .seconds(3))
    #expect(texts(pair.childEvents) == (0..<50).map(String.init))
    #expect(pair.viewer.brokenPictures == 0)
    #expect(pair.isConnected)
  }
}
