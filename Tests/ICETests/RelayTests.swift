import ICE
import TestSupport
import Testing
import Wire

/// Relayed candidates. The relay itself is a host with another address: the agent cannot tell, and does not have to.
@Suite struct RelayTests {
  private static let relay = "198.51.100.9"
  private static let newerRelay = "198.51.100.10"

  private static func address(_ text: String) -> TransportAddress {
    TransportAddress(ip: IPAddress(text)!, port: 5000)
  }

  /// A parent with a host address and a relay, and a child.
  private static func network() -> (SimulatedNetwork, parent: SimulatedPeer, child: SimulatedPeer) {
    let parent = SimulatedPeer(.controlling, addresses: ["10.0.0.1", relay, newerRelay], seed: 1)
    let child = SimulatedPeer(.controlled, addresses: ["203.0.113.2"], seed: 2)
    let network = SimulatedNetwork(parent, child)
    parent.agent.addLocalCandidate(.host(address("10.0.0.1")), now: network.now)
    parent.agent.addLocalCandidate(
      .relayed(address(relay), related: nil, localPreference: 1), now: network.now)
    network.addHosts(of: child)
    network.exchangeCredentials()
    network.give(parent.agent.localCandidates, to: child)
    network.give(child.agent.localCandidates, to: parent)
    return (network, parent, child)
  }

  @Test func aDirectPathIsTakenThoughARelayIsThere() {
    let (network, parent, child) = Self.network()
    network.run(for: .seconds(2))
    #expect(parent.agent.selectedPair?.isRelayed == false)
    #expect(child.agent.selectedPair?.isRelayed == false)
  }

  @Test func aRelayIsLeftForADirectPathThatWorksLater() throws {
    let (network, parent, child) = Self.network()
    let host = Self.address("10.0.0.1")
    network.passes = { from, to in from != host && to != host }
    network.run(for: .seconds(3))
    #expect(parent.agent.selectedPair?.isRelayed == true)
    #expect(child.agent.selectedPair?.isRelayed == true)
    network.passes = { _, _ in true }
    network.run(for: .seconds(2))
    #expect(parent.agent.selectedPair?.isRelayed == false)
    #expect(child.agent.selectedPair?.isRelayed == false)
    #expect(parent.statesSeen == [.checking, .connected, .completed] || !parent.statesSeen.contains(.disconnected))
  }

  @Test func aNewAllocationTakesOverFromTheOldOneAtOnce() throws {
    let (network, parent, child) = Self.network()
    let host = Self.address("10.0.0.1")
    network.passes = { from, to in from != host && to != host }
    network.run(for: .seconds(3))
    let newer = ICECandidate.relayed(Self.address(Self.newerRelay), related: nil, localPreference: 2)
    parent.agent.addLocalCandidate(newer, now: network.now)
    network.drain(parent)
    network.give([newer], to: child)
    network.run(for: .seconds(5))
    parent.agent.removeLocalCandidate(base: Self.address(Self.relay), now: network.now)
    network.drain(parent)
    #expect(parent.agent.selectedPair?.localAddress == Self.address(Self.newerRelay))
    network.run(for: .milliseconds(200))
    #expect(child.agent.selectedPair?.remoteAddress == Self.address(Self.newerRelay))
    #expect(!parent.statesSeen.contains(.disconnected) && !child.statesSeen.contains(.disconnected))
  }

  /// The parent's host address comes late, as with an interface that is just coming up. The child's check through the relay
  /// was there before its candidate.
  @Test func anAddressLearnedThroughTheRelayIsTriedFromTheOthersToo() {
    let parent = SimulatedPeer(.controlling, addresses: ["10.0.0.1", Self.relay], seed: 1)
    let child = SimulatedPeer(.controlled, addresses: ["203.0.113.2"], seed: 2)
    let network = SimulatedNetwork(parent, child)
    parent.agent.addLocalCandidate(
      .relayed(Self.address(Self.relay), related: nil, localPreference: 1), now: network.now)
    parent.agent.addLocalCandidate(.host(Self.address("10.0.0.1")), now: network.now)
    network.addHosts(of: child)
    network.exchangeCredentials()
    network.give(parent.agent.localCandidates.filter { $0.type == .relayed }, to: child)
    network.run(for: .milliseconds(300))
    #expect(parent.agent.selectedPair?.isRelayed == true)
    network.give(child.agent.localCandidates, to: parent)
    network.run(for: .milliseconds(500))
    #expect(parent.agent.selectedPair?.isRelayed == false)
    #expect(child.agent.selectedPair?.isRelayed == false)
  }

  /// The child wants nothing relayed; direct packets do not get through.
  private static func refusingNetwork() -> (SimulatedNetwork, parent: SimulatedPeer, child: SimulatedPeer) {
    var configuration = ICEConfiguration()
    configuration.acceptsRelayedCandidates = false
    let parent = SimulatedPeer(.controlling, addresses: ["10.0.0.1", relay], seed: 1)
    let child = SimulatedPeer(.controlled, addresses: ["203.0.113.2"], seed: 2, configuration: configuration)
    let network = SimulatedNetwork(parent, child)
    network.addHosts(of: child)
    parent.agent.addLocalCandidate(
      .relayed(address(relay), related: nil, localPreference: 1), now: network.now)
    network.exchangeCredentials()
    network.give(child.agent.localCandidates, to: parent)
    return (network, parent, child)
  }

  @Test func aRelayOfThePeersIsRefusedWhereNoneIsAccepted() {
    let (network, parent, child) = Self.refusingNetwork()
    network.give(parent.agent.localCandidates, to: child)
    network.run(for: .seconds(5))
    #expect(child.agent.selectedPair == nil)
    #expect(!child.statesSeen.contains(.connected))
  }

  @Test func aRelayThatWasHeardBeforeItWasToldIsLeftWhereNoneIsAccepted() {
    let (network, parent, child) = Self.refusingNetwork()
    network.run(for: .seconds(1))
    #expect(child.agent.selectedPair?.remoteAddress == Self.address(Self.relay))
    network.give(parent.agent.localCandidates, to: child)
    network.run(for: .seconds(5))
    #expect(child.agent.selectedPair == nil)
  }

  /// Media comes over the relay until the child has processed the nomination of the direct path.
  @Test func aRelayThatIsUsedAMomentLongerIsNotReturnedTo() throws {
    let (network, parent, child) = Self.network()
    let (host, relay) = (Self.address("10.0.0.1"), Self.address(Self.relay))
    network.passes = { from, to in from != host && to != host }
    func receiveMedia(at local: TransportAddress, until isOver: () -> Bool) {
      for _ in 0..<200 where !isOver() {
        parent.agent.noteReceived(from: child.addresses[0], to: local, now: network.now)
        network.drain(parent)
        network.run(for: .milliseconds(20))
      }
    }
    network.run(for: .seconds(1))
    let begun = network.now
    receiveMedia(at: relay) { network.now - begun > .seconds(1) }
    #expect(parent.agent.selectedPair?.isRelayed == true)
    network.passes = { _, _ in true }
    receiveMedia(at: relay) { parent.agent.selectedPair?.isRelayed == false }
    #expect(parent.agent.selectedPair?.isRelayed == false)
    let selected = network.now
    receiveMedia(at: relay) { network.now - selected > .milliseconds(400) }
    #expect(parent.agent.selectedPair?.isRelayed == false)
    let followed = network.now
    receiveMedia(at: host) { network.now - followed > .seconds(1) }
    #expect(parent.agent.selectedPair?.isRelayed == false && child.agent.selectedPair?.isRelayed == false)
  }

  /// The child's media comes directly at first, before our own check has got through; we nominate the relay, and it follows.
  @Test func aDirectPathFromWhichWeCalledThePeerAwayIsTakenWhenItWorks() throws {
    let (network, parent, child) = Self.network()
    let (host, relay) = (Self.address("10.0.0.1"), Self.address(Self.relay))
    network.passes = { from, to in from != host && to != host }
    for _ in 0..<100 where parent.agent.selectedPair?.nominated != true {
      network.run(for: .milliseconds(10))
      parent.agent.noteReceived(from: child.addresses[0], to: host, now: network.now)
      network.drain(parent)
    }
    #expect(parent.agent.selectedPair?.isRelayed == true)
    for step in 0..<50 {
      if step == 10 { network.passes = { _, _ in true } }
      network.run(for: .milliseconds(20))
      let at = child.agent.selectedPair?.isRelayed == true ? relay : host
      parent.agent.noteReceived(from: child.addresses[0], to: at, now: network.now)
      network.drain(parent)
    }
    network.run(for: .seconds(1))
    #expect(parent.agent.selectedPair?.isRelayed == false && child.agent.selectedPair?.isRelayed == false)
  }
}
