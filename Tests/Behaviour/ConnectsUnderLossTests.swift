import PeerConnection
import SecureTransport
import Simulation
import Testing
import Wire

@Suite struct ConnectsUnderLossTests {
  /// Of a night of bad Wi-Fi: 30 % lost, late, twice and in another order.
  private static let badWiFi = SimulatedPair.Link(
    delay: .milliseconds(20), jitter: .milliseconds(30), loss: 0.3, duplication: 0.1, reordering: 0.05)

  @Test func connectsUnderThirtyPercentLoss() throws {
    var times: [Duration] = []
    for seed in 1...100 as ClosedRange<UInt64> {
      let pair = SimulatedPair(seed: seed)
      pair.link = Self.badWiFi
      let start = pair.now
      try pair.exchangeDescriptions()
      #expect(pair.run(until: { pair.isConnected }, limit: .seconds(15)), "seed \(seed)")
      times.append(pair.now - start)
    }
    times.sort()
    Measured.note(
      "connect at 30 % loss: median \(times.percentile(0.5)), p95 \(times.percentile(0.95)), worst \(times.last!)")
    #expect(times.percentile(0.5) <= .seconds(1))
    #expect(times.percentile(0.95) <= .seconds(4))
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func connectsUnderThirtyPercentLossWithTheRealHandshake(seed: UInt64) throws {
    let pair = SimulatedPair(
      seed: seed, parentSecure: try OpenSSLTransports.simulated(),
      childSecure: try OpenSSLTransports.simulated())
    pair.link = Self.badWiFi
    let start = pair.now
    try pair.exchangeDescriptions()
    #expect(pair.run(until: { pair.isConnected }, limit: .seconds(20)))
    Measured.note("connect at 30 % loss, OpenSSL: \(pair.now - start)")
  }

  @Test func theFirstPictureFollowsUnderThirtyPercentLoss() throws {
    for seed in 1...20 as ClosedRange<UInt64> {
      let pair = SimulatedPair(seed: seed)
      pair.link = Self.badWiFi
      pair.camera = TestCamera()
      try pair.exchangeDescriptions()
      #expect(pair.run(until: { !pair.viewer.pictures.isEmpty }, limit: .seconds(20)), "seed \(seed)")
      Measured.note("first picture at 30 % loss: \(pair.now - (.zero + .seconds(10)))")
      #expect(pair.viewer.brokenPictures == 0)
    }
  }
}
