import PeerConnection
import SCTP
import Testing
import Wire

@Suite struct DataChannelBehaviourTests {
  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func messagesArriveInOrderUnderTwentyPercentLoss(seed: UInt64) throws {
    let pair = SimulatedPair(seed: seed)
    try pair.exchangeDescriptions()
    #expect(pair.run(until: { pair.isConnected }, limit: .seconds(2)))
    pair.link = .init(delay: .milliseconds(10), jitter: .milliseconds(20), loss: 0.2)
    let channel = try pair.parent.openDataChannel(
      DataChannelParameters(label: "control", protocolName: "cradle.control.v1"), now: pair.now)
    for number in 0..<100 { try pair.parent.send(.text("message \(number)"), on: channel, now: pair.now) }
    pair.drain()
    func received() -> [String] {
      pair.childEvents.compactMap { if case .dataChannelMessage(_, .text(let text)) = $0 { text } else { nil } }
    }
    #expect(pair.run(until: { received().count == 100 }, limit: .seconds(120)))
    #expect(received() == (0..<100).map { "message \($0)" })
    let opened = pair.childEvents.contains {
      if case .dataChannelOpened(_, let parameters, true) = $0 { parameters.label == "control" } else { false }
    }
    #expect(opened)
  }
}
