import ICE
import STUN
import TestSupport
import Testing
import Wire

@Suite struct RestartTests {
  private func connected() throws -> (SimulatedPeer, SimulatedPeer, SimulatedNetwork) {
    let a = SimulatedPeer(.controlling, addresses: ["192.168.1.2"], seed: 31)
    let b = SimulatedPeer(.controlled, addresses: ["192.168.1.3"], seed: 32)
    let network = SimulatedNetwork(a, b)
    network.exchange()
    _ = try #require(network.timeToConnect())
    network.run(for: .seconds(1))
    return (a, b, network)
  }

  /// The offerer renews, the answer comes seconds later; nothing is interrupted.
  @Test(arguments: [true, false])
  func theOldPairStaysInUseUntilTheNewOneWorks(answererRenewsFirst: Bool) throws {
    let (a, b, network) = try connected()
    let old = try #require(a.agent.selectedPair)
    let oldCredentials = a.agent.localCredentials
    a.states = []
    b.states = []
    let fresh = a.agent.restart(now: network.now)
    network.drain(a)
    #expect(fresh != oldCredentials && a.agent.localCredentials == fresh && a.agent.remoteCredentials == nil)
    #expect(a.agent.localUsernameFragments == [fresh.usernameFragment, oldCredentials.usernameFragment])
    network.run(for: .seconds(40))
    #expect(a.agent.selectedPair?.id == old.id && b.agent.selectedPair != nil, "consent goes on under the old ones")
    #expect(!a.statesSeen.contains(.disconnected) && !b.statesSeen.contains(.disconnected))

    if answererRenewsFirst {
      _ = b.agent.restart(now: network.now)
      b.agent.setRemoteCredentials(fresh, now: network.now)
    } else {
      b.agent.setRemoteCredentials(fresh, now: network.now)
      network.give(a.agent.localCandidates, to: b)
      _ = b.agent.restart(now: network.now)
    }
    network.drain(b)
    network.give(a.agent.localCandidates, to: b)
    network.run(for: .seconds(1))
    a.agent.setRemoteCredentials(b.agent.localCredentials, now: network.now)
    network.drain(a)
    network.give(b.agent.localCandidates, to: a)
    network.run(for: .seconds(1))
    #expect(try #require(a.agent.selectedPair).id != old.id)
    #expect(a.agent.state == .completed && b.agent.state == .completed)
    #expect(a.agent.statistics.count == 1 && b.agent.statistics.count == 1, "the old generation is over")
    network.run(for: .seconds(60))
    #expect(!a.statesSeen.contains(.disconnected) && !b.statesSeen.contains(.disconnected))
  }

  @Test func aPathLostForGoodComesBackWithARestart() throws {
    let (a, b, network) = try connected()
    network.passes = { _, _ in false }
    network.run(for: .seconds(40))
    #expect(a.agent.state == .failed && b.agent.state == .failed)
    network.passes = { _, _ in true }
    let fresh = a.agent.restart(now: network.now)
    network.drain(a)
    #expect(a.agent.state == .checking)
    _ = b.agent.restart(now: network.now)
    b.agent.setRemoteCredentials(fresh, now: network.now)
    network.drain(b)
    network.give(a.agent.localCandidates, to: b)
    a.agent.setRemoteCredentials(b.agent.localCredentials, now: network.now)
    network.drain(a)
    #expect(try #require(network.timeToConnect()) <= .milliseconds(100))
  }

  @Test func aCandidateOfAnotherGenerationWaitsForItsCredentials() throws {
    let (a, b, network) = try connected()
    var early = ICECandidate.host(TransportAddress(ip: IPAddress("192.168.1.9")!, port: 7000))
    early.usernameFragment = "NEXT"
    let count = a.sent.count
    network.give([early], to: a)
    #expect(a.sent.count == count && a.agent.statistics.count == 1)
    a.agent.setRemoteCredentials(
      ICECredentials(usernameFragment: "NEXT", password: "0123456789012345678901"), now: network.now)
    network.drain(a)
    #expect(a.sent.last?.to == early.transportAddress)
    #expect(b.agent.selectedPair != nil)
  }

  @Test func twoRestartsInARowKeepThePairInUse() throws {
    let (a, b, network) = try connected()
    let old = a.agent.selectedPair
    _ = a.agent.restart(now: network.now)
    network.run(for: .seconds(1))
    _ = a.agent.restart(now: network.now)
    network.run(for: .seconds(40))
    #expect(a.agent.selectedPair == old && a.agent.state != .disconnected)
    _ = b.agent.restart(now: network.now)
    network.exchangeCredentials()
    network.give(a.agent.localCandidates, to: b)
    network.run(for: .seconds(1))
    #expect(a.agent.state == .completed && b.agent.state == .completed)
    #expect(a.agent.selectedPair?.id != old?.id)
  }
}
