import PeerConnection
import RTP
import SDP
import Testing
import Wire

@Suite struct MediaBehaviourTests {
  private func isMedia(_ datagram: [UInt8]) -> Bool {
    (128...191).contains(datagram.first ?? 0) && !RTPDemultiplexing.isRTCP(datagram)
  }

  @Test func framesReachThePeerWithContinuousSequenceNumbers() throws {
    let pair = SimulatedPair()
    try pair.exchangeDescriptions()
    #expect(pair.run(until: { pair.isConnected }, limit: .seconds(2)))
    for frame in 0..<100 {
      pair.child.send(
        [[UInt8](repeating: 0x10, count: 1000), [UInt8](repeating: 0, count: 500)], kind: .video,
        mediaTime: UInt32(frame * 3000), captureTime: pair.now, isKeyFrame: frame == 0, now: pair.now)
      pair.drain()
      pair.run(for: .milliseconds(33))
    }
    pair.run(for: .milliseconds(50))
    let packets = try pair.arrivedAtParent.filter(isMedia).map { try RTPPacket(parsing: Array($0.dropLast(4))) }
    #expect(packets.count == 200)
    for (before, after) in zip(packets, packets.dropFirst()) {
      #expect(after.header.sequenceNumber == before.header.sequenceNumber &+ 1)
    }
    #expect(packets.filter(\.header.marker).count == 100)
  }

  @Test func nothingIsSentBeforeTheHandshakeOrAfterTheEnd() throws {
    let pair = SimulatedPair()
    try pair.exchangeDescriptions()
    pair.child.send([[1]], kind: .video, mediaTime: 0, captureTime: pair.now, now: pair.now)
    #expect(pair.run(until: { pair.isConnected }, limit: .seconds(2)))
    #expect(!pair.arrivedAtParent.contains(where: isMedia))
    pair.child.close(now: pair.now)
    pair.drain()
    pair.child.send([[1]], kind: .video, mediaTime: 0, captureTime: pair.now, now: pair.now)
    #expect(pair.child.poll() == nil)
    #expect(!pair.child.isSending(.video))
  }
}
