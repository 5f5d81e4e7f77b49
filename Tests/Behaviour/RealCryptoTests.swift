import PeerConnection
import RTP
import SDP
import Secure
import Simulation
import Testing
import Wire

/// The same pair with OpenSSL and libsrtp in it.
@Suite struct RealCryptoTests {
  private func transports() throws -> OpenSSLTransports {
    let identity = NodeIdentity.generate()
    return try OpenSSLTransports(
      identity: identity, certificate: NodeCertificate(identity: identity), timing: DTLSTiming(clock: .simulated))
  }

  private func connected() throws -> SimulatedPair {
    let pair = SimulatedPair(parentSecure: try transports(), childSecure: try transports())
    try pair.exchangeDescriptions()
    try #require(pair.run(until: { pair.isConnected }, limit: .seconds(2)))
    return pair
  }

  private func stream(_ pair: SimulatedPair, frames: Int) {
    for frame in 0..<frames {
      pair.child.send(
        [[UInt8](repeating: 7, count: 900)], kind: .video, mediaTime: UInt32(frame * 3000), captureTime: pair.now,
        isKeyFrame: frame == 0, now: pair.now)
      pair.drain()
      pair.run(for: .milliseconds(33))
    }
  }

  @Test func everyProtectedPacketIsAccepted() throws {
    let pair = try connected()
    stream(pair, frames: 50)
    #expect(pair.parent.statistics.refusedPackets == 0)
    #expect(pair.parent.statistics.packetsReceived > 50)
  }

  @Test func replayedAndChangedPacketsAreRefusedAndCounted() throws {
    let pair = try connected()
    stream(pair, frames: 20)
    let media = pair.arrivedAtParent.filter { (128...191).contains($0.first ?? 0) && !RTPDemultiplexing.isRTCP($0) }
    #expect(media.count == 20)
    for packet in media { pair.inject(packet, to: .parent) }
    #expect(pair.parent.statistics.refusedPackets == 20)
    var changed = media[19]
    changed[20] ^= 1
    pair.inject(changed, to: .parent)
    pair.inject(Array(media[3].prefix(15)), to: .parent)
    #expect(pair.parent.statistics.refusedPackets == 22)
    #expect(pair.isConnected)
  }

  @Test func nobodyCanSpeakForThePeerWithAnotherCertificate() throws {
    // The child's answer names a certificate that its DTLS does not show.
    let honest = try transports()
    let other = try transports()
    let pair = SimulatedPair(
      parentSecure: try transports(), childSecure: Swapped(announced: honest.certificateSHA256, real: other))
    try pair.exchangeDescriptions()
    #expect(pair.run(until: { pair.parent.state == .failed }, limit: .seconds(5)))
    #expect(!pair.parent.isSending(.video))
    #expect(pair.parent.failureReason?.contains("certificate") == true)
  }

  private struct Swapped: SecureTransports {
    var announced: [UInt8]
    var real: OpenSSLTransports
    var certificateSHA256: [UInt8] { announced }
    func makeDTLS() throws -> any DTLSPort { try real.makeDTLS() }
    func makeSRTP(keys: SRTPKeys) throws(SRTPError) -> any SRTPPort { try real.makeSRTP(keys: keys) }
  }
}
