import ICE
import PeerConnection
import SCTP
import SDP
import TestSupport
import Testing
import Wire

@Suite struct LinkTroubleTests {
  private func connected(seed: UInt64 = 1) throws -> SimulatedPair {
    let pair = SimulatedPair(seed: seed)
    try pair.exchangeDescriptions()
    try #require(pair.run(until: { pair.isConnected }, limit: .seconds(2)))
    return pair
  }

  @Test func aVanishedViewerIsNoticedWithinThirtyFiveSeconds() throws {
    let pair = try connected()
    pair.link.isCut = true
    let began = pair.now
    #expect(pair.run(until: { pair.child.state == .disconnected }, limit: .seconds(12)))
    #expect(pair.run(until: { pair.child.state == .failed }, limit: .seconds(40)))
    #expect(pair.now - began <= .seconds(36))
  }

  @Test func aShortOutageHealsByItself() throws {
    let pair = try connected()
    pair.link.isCut = true
    pair.run(for: .seconds(15))
    #expect(pair.child.state == .disconnected)
    pair.link.isCut = false
    #expect(pair.run(until: { pair.isConnected }, limit: .seconds(10)))
  }

  @Test func goodbyeEndsTheOtherSideAtOnce() throws {
    let pair = try connected()
    pair.parent.close(now: pair.now)
    pair.drain()
    #expect(pair.run(until: { pair.child.state == .closed }, limit: .milliseconds(50)))
  }

  @Test func aViewerWhoseAddressChangesKeepsItsStream() throws {
    let pair = try connected()
    // A NAT gives the parent another port.
    pair.parentAddress.port = 5555
    #expect(pair.run(until: { pair.child.selectedPair?.remoteAddress.port == 5555 }, limit: .seconds(20)))
    #expect(pair.isConnected)
  }

  @Test func foreignTruncatedAndRandomDatagramsChangeNothing() throws {
    let pair = try connected()
    var random = SeededGenerator(seed: 4)
    let real = pair.arrivedAtChild
    for _ in 0..<3000 {
      var datagram = real.randomElement(using: &random)!
      switch Int.random(in: 0..<4, using: &random) {
      case 0: datagram.removeLast(Int.random(in: 0...datagram.count, using: &random))
      case 1: if !datagram.isEmpty { datagram[Int.random(in: 0..<datagram.count, using: &random)] ^= 0x55 }
      case 2: datagram = (0..<Int.random(in: 0...100, using: &random)).map { _ in .random(in: 0...255, using: &random) }
      default: break
      }
      // The fake cipher has no integrity: anything but close_notify may pass as the handshake's records.
      if datagram.first == 21 || datagram.first == 23 { continue }
      pair.inject(datagram, to: .child, from: TransportAddress(ip: .v4(0xc633_6401), port: 9))
    }
    pair.run(for: .seconds(10))
    #expect(pair.isConnected)
  }
}
