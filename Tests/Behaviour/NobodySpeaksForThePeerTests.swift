import PeerConnection
import SDP
import SecureTransport
import Simulation
import Testing
import Wire

/// Certificates, with OpenSSL and libsrtp.
@Suite struct NobodySpeaksForThePeerTests {
  @Test func everyProtectedPacketIsAccepted() throws {
    let pair = try SimulatedPair.encrypted(streaming: true)
    let statistics = pair.parent.statistics(now: pair.now)
    #expect(statistics.refusedPackets == 0)
    #expect(statistics.packetsReceived > 100)
    #expect(pair.viewer.brokenPictures == 0 && pair.viewer.brokenSounds == 0)
  }

  @Test func anotherCertificateIsRefused() throws {
    // The child's answer names a certificate that its DTLS does not show.
    let honest = try OpenSSLTransports.simulated()
    let other = try OpenSSLTransports.simulated()
    let pair = SimulatedPair(
      parentSecure: try OpenSSLTransports.simulated(),
      childSecure: Swapped(announced: honest.certificateSHA256, real: other))
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
