import ICE
import PeerConnection
import Simulation
import Testing
import Wire

@Suite struct NATRebindingTests {
  private func mapping(_ port: UInt16, host: UInt32 = 0xcb00_7101) -> TransportAddress {
    TransportAddress(ip: .v4(host), port: port)
  }

  private func behindNAT(seed: UInt64) throws -> SimulatedPair {
    let pair = SimulatedPair(seed: seed)
    pair.natMapping = mapping(40_000)
    pair.camera = TestCamera()
    pair.microphone = TestMicrophone()
    try pair.exchangeDescriptions()
    try #require(pair.run(until: { pair.isConnected }, limit: .seconds(2)))
    pair.run(for: .seconds(2))
    return pair
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func aNewMappingIsFoundWithinSeconds(seed: UInt64) throws {
    let pair = try behindNAT(seed: seed)
    #expect(pair.child.selectedPair?.remoteAddress == mapping(40_000))
    pair.run(for: .milliseconds(Int64(seed) * 770))
    pair.natMapping = mapping(41_000)
    let picture = try #require(pair.timeToNextPicture(limit: .seconds(20)))
    Measured.note("NAT rebinding: picture after \(picture)")
    #expect(picture <= .milliseconds(3700))
    #expect(pair.run(until: { pair.child.selectedPair?.remoteAddress == mapping(41_000) }, limit: .seconds(1)))
    #expect(pair.run(until: { pair.isConnected }, limit: .seconds(5)))
    #expect(pair.viewer.brokenPictures == 0)
    #expect(!pair.parentEvents.contains { if case .stateChanged(.failed) = $0 { true } else { false } })
  }

  @Test func aNightOfRebindingsKeepsTheStreamAndItsMemoryBounded() throws {
    let pair = try behindNAT(seed: 3)
    pair.camera!.interval = .milliseconds(100)
    pair.microphone = nil
    for number in 1...20 as ClosedRange<UInt16> {
      pair.natMapping = mapping(41_000 + number, host: 0xcb00_7100 + UInt32(number % 7))
      _ = try #require(pair.timeToNextPicture(limit: .seconds(15)), "mapping \(number)")
      pair.run(for: .milliseconds(500))
    }
    #expect(pair.run(until: { pair.isConnected }, limit: .seconds(5)))
    #expect(pair.viewer.brokenPictures == 0)
    let agent = try #require(Mirror(reflecting: pair.child).descendant("ice"))
    #expect(HeldMemory.of(agent).elements < 10_000)
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func aNewMappingUnderLossIsFound(seed: UInt64) throws {
    let pair = try behindNAT(seed: seed)
    pair.link = .init(delay: .milliseconds(20), jitter: .milliseconds(10), loss: 0.2)
    pair.natMapping = mapping(41_000)
    let picture = try #require(pair.timeToNextPicture(limit: .seconds(20)))
    Measured.note("NAT rebinding at 20 % loss: picture after \(picture)")
    #expect(picture <= .seconds(6))
  }
}
