import ICE
import STUN
import TestSupport
import Testing
import Wire

@Suite struct ConnectTests {
  private func pair(
    _ a: ICERole = .controlling, _ b: ICERole = .controlled, _ addressesOfA: [String] = ["192.168.1.2"],
    _ addressesOfB: [String] = ["192.168.1.3"], seed: UInt64 = 1
  ) -> (SimulatedPeer, SimulatedPeer, SimulatedNetwork) {
    let first = SimulatedPeer(a, addresses: addressesOfA, seed: seed &* 1000 + 10)
    let second = SimulatedPeer(b, addresses: addressesOfB, seed: seed &* 1000 + 20)
    return (first, second, SimulatedNetwork(first, second, seed: seed))
  }

  @Test(arguments: [(ICERole.controlling, ICERole.controlled), (.controlled, .controlling)])
  func connectsWithinTwoRoundTripsInBothRoles(first: ICERole, second: ICERole) throws {
    let (a, b, network) = pair(first, second)
    network.exchange()
    #expect(try #require(network.timeToConnect()) <= .milliseconds(8))
    network.run(for: .milliseconds(100))
    #expect(a.agent.state == .completed && b.agent.state == .completed)
    #expect(a.agent.role == first && b.agent.role == second)
    let selected = try #require(a.agent.selectedPair)
    #expect(selected.nominated && selected.local.type == .host && selected.remoteAddress == b.addresses[0])
    #expect(b.agent.selectedPair?.remoteAddress == a.addresses[0])
    #expect(a.statesSeen == [.checking, .connected, .completed])
  }

  @Test func repairsBothControlling() throws {
    let (a, b, network) = pair(.controlling, .controlling)
    network.exchange()
    _ = try #require(network.timeToConnect())
    network.run(for: .seconds(1))
    #expect(Set([a.agent.role, b.agent.role]) == [.controlling, .controlled])
    #expect(a.agent.state == .completed && b.agent.state == .completed)
  }

  @Test func repairsBothControlled() throws {
    let (a, b, network) = pair(.controlled, .controlled)
    network.exchange()
    _ = try #require(network.timeToConnect())
    network.run(for: .seconds(1))
    #expect(Set([a.agent.role, b.agent.role]) == [.controlling, .controlled])
    #expect(a.agent.selectedPair?.nominated == true && b.agent.selectedPair?.nominated == true)
  }

  /// A browser that hides its candidates: only its checks tell where it is.
  @Test(arguments: [true, false])
  func connectsFromIncomingChecksAlone(knowsLocalAddress: Bool) throws {
    let (browser, child, network) = pair()
    child.knowsLocalAddress = knowsLocalAddress
    network.exchange(candidatesOfFirst: false)
    #expect(try #require(network.timeToConnect()) <= .milliseconds(8))
    network.run(for: .milliseconds(100))
    #expect(child.agent.selectedPair?.remote.type == .peerReflexive)
    #expect(child.agent.state == .completed)
    #expect(browser.agent.selectedPair?.remote.type == .host)
  }

  @Test func checksBeforeTheDescriptionWaitForIt() throws {
    let (a, b, network) = pair()
    network.peers.forEach(network.addHosts)
    a.agent.setRemoteCredentials(b.agent.localCredentials, now: network.now)
    network.give(b.agent.localCandidates, to: a)
    network.run(for: .milliseconds(100))
    #expect(a.agent.state == .completed, "our checks are answered without the peer's credentials")
    #expect(b.agent.state == .new && b.agent.selectedPair == nil)
    b.agent.setRemoteCredentials(a.agent.localCredentials, now: network.now)
    network.drain(b)
    #expect(try #require(network.timeToConnect()) <= .milliseconds(5))
    #expect(b.agent.selectedPair?.nominated == true)
  }

  @Test func candidatesBeforeTheDescriptionWaitForIt() throws {
    let (a, b, network) = pair()
    network.peers.forEach(network.addHosts)
    network.give(a.agent.localCandidates, to: b)
    network.give(b.agent.localCandidates, to: a)
    #expect(a.sent.isEmpty && b.sent.isEmpty)
    network.exchangeCredentials()
    _ = try #require(network.timeToConnect())
  }

  @Test func aCandidateThatTricklesInLateConnects() throws {
    let (a, b, network) = pair()
    network.passes = { from, to in from.ip != b.addresses[0].ip || to.port == 5000 }
    network.peers.forEach(network.addHosts)
    network.exchangeCredentials()
    network.run(for: .seconds(9))
    #expect(a.agent.state == .checking)
    network.give(b.agent.localCandidates, to: a)
    #expect(try #require(network.timeToConnect()) <= .milliseconds(8))
  }

  @Test func connectsOverIPv6() throws {
    let (a, b, network) = pair(
      .controlling, .controlled, ["fe80::1", "2001:db8::1", "10.0.0.1"], ["fe80::2", "2001:db8::2"])
    network.exchange()
    _ = try #require(network.timeToConnect())
    #expect(a.agent.selectedPair?.remoteAddress == b.addresses[1])
    #expect(a.agent.statistics.count == 1, "other families and link-local addresses are not paired")
  }

  @Test func prefersTheHigherPriorityOfWhatWorks() throws {
    let (a, b, network) = pair(
      .controlling, .controlled, ["2001:db8::1", "192.168.1.2"], ["2001:db8::2", "192.168.1.3"])
    network.passes = { from, _ in !from.ip.isIPv6 }
    network.exchange()
    _ = try #require(network.timeToConnect())
    network.run(for: .seconds(1))
    #expect(a.agent.selectedPair?.remoteAddress == b.addresses[1])
    #expect(b.agent.selectedPair?.nominated == true)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func connectsAtThirtyPercentLoss(seed: UInt64) throws {
    let (a, b, network) = pair(seed: seed)
    network.loss = 0.3
    network.jitter = .milliseconds(20)
    network.exchange()
    #expect(try #require(network.timeToConnect()) < .seconds(5))
    network.run(for: .seconds(20))
    #expect(a.agent.selectedPair?.nominated == true && b.agent.selectedPair?.nominated == true)
  }

  @Test func connectsThroughANATAndNamesTheReflexiveAddress() throws {
    let (a, b, network) = pair(.controlled, .controlling, ["192.168.1.2"], ["198.51.100.7"])
    a.natAddress = .v4(0xcb00_7101)
    network.exchange()
    _ = try #require(network.timeToConnect())
    network.run(for: .seconds(1))
    let selected = try #require(a.agent.selectedPair)
    #expect(selected.local.type == .peerReflexive)
    #expect(selected.local.transportAddress?.ip == a.natAddress)
    #expect(selected.localAddress == a.addresses[0])
    #expect(b.agent.selectedPair?.remote.type == .peerReflexive)
    #expect(selected.nominated && b.agent.state == .connected, "the host address behind the NAT is still being tried")
    network.run(for: .seconds(17))
    #expect(a.agent.state == .completed && b.agent.state == .completed)
  }

  @Test func aMulticastDNSNameIsResolvedOnceAndUsed() throws {
    let (a, b, network) = pair()
    network.exchange(candidatesOfFirst: false, candidatesOfSecond: false)
    let line = "candidate:1 1 udp 2113937151 9b36eaac-bb2e-49bb-bb78-21c41c499900.local 5000 typ host"
    let hidden = try ICECandidate(attribute: line)
    network.give([hidden, hidden, try ICECandidate(attribute: "candidate:2 1 udp 1 example.org 5 typ host")], to: a)
    #expect(a.resolves == ["9b36eaac-bb2e-49bb-bb78-21c41c499900.local"])
    #expect(a.sent.isEmpty)
    a.agent.addResolved(name: a.resolves[0], address: b.addresses[0].ip, now: network.now)
    network.drain(a)
    _ = try #require(network.timeToConnect())
    #expect(a.agent.selectedPair?.remote.type == .host)
  }

  @Test func whatWasPeerReflexiveBecomesTheCandidateThatItIs() throws {
    let (a, b, network) = pair()
    network.exchange(candidatesOfFirst: false)
    _ = try #require(network.timeToConnect())
    #expect(b.agent.selectedPair?.remote.type == .peerReflexive)
    network.give(a.agent.localCandidates, to: b)
    #expect(b.agent.selectedPair?.remote.type == .host)
    #expect(b.agent.statistics.count == 1)
  }

  @Test func failsWhenNothingWorksAndComesBackWithARestart() throws {
    let (a, b, network) = pair()
    network.passes = { _, _ in false }
    network.exchange()
    network.run(for: .seconds(29))
    #expect(a.agent.state == .checking)
    network.run(for: .seconds(2))
    #expect(a.statesSeen == [.checking, .failed])
    network.passes = { _, _ in true }
    _ = a.agent.restart(now: network.now)
    _ = b.agent.restart(now: network.now)
    network.exchangeCredentials()
    network.give(b.agent.localCandidates, to: a)
    _ = try #require(network.timeToConnect())
  }

  @Test func saysSoEarlierWhenNoMoreCandidatesCome() {
    let (a, _, network) = pair()
    network.passes = { _, _ in false }
    network.exchange()
    a.agent.endOfRemoteCandidates(now: network.now)
    network.run(for: .seconds(17))
    #expect(a.agent.state == .failed)
  }

  @Test func statisticsCountWhatHappened() throws {
    let (a, _, network) = pair()
    network.exchange()
    _ = try #require(network.timeToConnect())
    network.run(for: .seconds(21))
    let statistics = try #require(a.agent.statistics.first)
    #expect(statistics.state == .succeeded && statistics.nominated && statistics.isSelected)
    #expect(statistics.currentRoundTripTime == .milliseconds(4))
    #expect((3...5).contains(statistics.consentRequestsSent))
    #expect(statistics.requestsReceived == statistics.responsesSent)
    #expect(statistics.responsesReceived == statistics.requestsSent + statistics.consentRequestsSent)
    #expect(statistics.totalRoundTripTime >= .milliseconds(4) * (statistics.responsesReceived - 1))
  }
}
