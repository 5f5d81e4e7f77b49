import ICE
import STUN
import TestSupport
import Testing
import Wire

/// Our own addresses appear and go while connected.
@Suite struct AddressChangeTests {
  private func connected(
    _ addressesOfA: [String] = ["192.168.1.2"], _ addressesOfB: [String] = ["192.168.1.3"]
  ) throws -> (SimulatedPeer, SimulatedPeer, SimulatedNetwork) {
    let a = SimulatedPeer(.controlling, addresses: addressesOfA, seed: 41)
    let b = SimulatedPeer(.controlled, addresses: addressesOfB, seed: 42)
    let network = SimulatedNetwork(a, b)
    network.exchange()
    _ = try #require(network.timeToConnect())
    network.run(for: .seconds(10))
    return (a, b, network)
  }

  /// Both send media all the time, each from where it now stands to where it believes the other to be.
  private func run(
    _ network: SimulatedNetwork, _ a: SimulatedPeer, _ b: SimulatedPeer, for duration: Duration,
    until isDone: () -> Bool = { false }
  ) {
    let end = network.now + duration
    while network.now < end, !isDone() {
      network.run(for: .milliseconds(5))
      for (sender, receiver) in [(a, b), (b, a)] {
        guard let pair = sender.agent.selectedPair, sender.addresses.contains(pair.localAddress),
          receiver.addresses.contains(pair.remoteAddress), network.passes(pair.localAddress, pair.remoteAddress)
        else { continue }
        receiver.agent.noteReceived(from: pair.localAddress, to: pair.remoteAddress, now: network.now)
        network.drain(receiver)
      }
    }
  }

  @Test func theControlledSideMovesAndIsFollowed() throws {
    let (a, b, network) = try connected()
    run(network, a, b, for: .seconds(1))
    b.move(from: "192.168.1.3", to: "192.168.1.7", now: network.now)
    network.drain(b)
    let moved = network.now
    let new = TransportAddress(ip: IPAddress("192.168.1.7")!, port: 5000)
    run(network, a, b, for: .seconds(1)) { b.agent.selectedPair?.localAddress == new }
    // A check and its answer: media flows from the new address.
    #expect(network.now - moved <= .milliseconds(10))
    run(network, a, b, for: .seconds(1)) { a.agent.selectedPair?.remoteAddress == new }
    #expect(network.now - moved <= .milliseconds(100))
    run(network, a, b, for: .seconds(20))
    #expect(a.agent.selectedPair?.remoteAddress == new && a.agent.selectedPair?.nominated == true)
    #expect(b.agent.selectedPair?.nominated == true)
    #expect(a.selections.filter { $0.at >= moved }.count <= 2, "no going back and forth")
  }

  @Test func theControllingSideMovesAndIsFollowedWithinTwoRoundTrips() throws {
    let (a, b, network) = try connected()
    run(network, a, b, for: .seconds(1))
    a.move(from: "192.168.1.2", to: "192.168.1.7", now: network.now)
    network.drain(a)
    let moved = network.now
    let new = TransportAddress(ip: IPAddress("192.168.1.7")!, port: 5000)
    run(network, a, b, for: .seconds(1)) { b.agent.selectedPair?.remoteAddress == new }
    // A check, its answer and the nomination, 2 ms each way.
    #expect(network.now - moved <= .milliseconds(10))
    run(network, a, b, for: .seconds(20))
    #expect(a.agent.selectedPair?.localAddress == new && b.agent.selectedPair?.remoteAddress == new)
    #expect(b.selections.filter { $0.at >= moved }.count == 1)
    #expect(a.agent.state == .completed && b.agent.state == .completed)
  }

  @Test func anotherAddressTakesOverAtOnce() throws {
    let (a, b, network) = try connected(["192.168.1.2", "10.0.0.2"], ["192.168.1.3", "10.0.0.3"])
    run(network, a, b, for: .seconds(1))
    let old = try #require(a.agent.selectedPair).localAddress
    a.move(from: "\(old.ip)", to: nil, now: network.now)
    network.drain(a)
    let moved = network.now
    run(network, a, b, for: .seconds(1)) { b.agent.selectedPair.map { $0.remoteAddress != old } ?? false }
    #expect(network.now - moved <= .milliseconds(50))
    #expect(a.agent.selectedPair.map { $0.localAddress != old } ?? false)
  }

  @Test func aLostCarrierMovesMediaAndItsReturnNeedsNoNewPath() throws {
    let (a, b, network) = try connected(["192.168.1.2", "10.0.0.2"], ["192.168.1.3", "10.0.0.3"])
    run(network, a, b, for: .seconds(1))
    let old = try #require(a.agent.selectedPair).localAddress
    network.passes = { from, to in from != old && to != old }
    let cut = network.now
    a.agent.setCarries(false, base: old, now: network.now)
    network.drain(a)
    run(network, a, b, for: .seconds(1)) { b.agent.selectedPair.map { $0.remoteAddress != old } ?? false }
    #expect(network.now - cut <= .milliseconds(50))
    network.passes = { _, _ in true }
    a.agent.setCarries(true, base: old, now: network.now)
    network.drain(a)
    run(network, a, b, for: .seconds(10))
    #expect(network.areConnected && a.agent.localCandidates.contains { $0.transportAddress == old })
  }

  @Test func theOnlyAddressWithoutACarrierIsUsedAgainWithIt() throws {
    let (a, b, network) = try connected()
    run(network, a, b, for: .seconds(1))
    let old = try #require(a.agent.selectedPair)
    network.passes = { _, _ in false }
    a.agent.setCarries(false, base: old.localAddress, now: network.now)
    run(network, a, b, for: .seconds(8))
    #expect(a.agent.selectedPair?.id == old.id)
    network.passes = { _, _ in true }
    let back = network.now
    a.agent.setCarries(true, base: old.localAddress, now: network.now)
    network.drain(a)
    run(network, a, b, for: .seconds(1)) { a.agent.state == .completed }
    #expect(network.now - back <= .milliseconds(10) && a.agent.selectedPair?.id == old.id)
  }

  @Test func halfAMinuteWithoutAnAddressIsTheEndAndLessIsNot() throws {
    let (a, b, network) = try connected()
    b.move(from: "192.168.1.3", to: nil, now: network.now)
    network.drain(b)
    network.run(for: .seconds(22))
    #expect(b.agent.state == .checking && b.agent.selectedPair == nil)
    b.move(from: "192.168.1.3", to: "192.168.1.7", now: network.now)
    network.drain(b)
    network.run(for: .milliseconds(100))
    #expect(b.agent.selectedPair != nil && a.agent.selectedPair != nil)
    b.move(from: "192.168.1.7", to: nil, now: network.now)
    network.drain(b)
    network.run(for: .seconds(31))
    #expect(b.agent.state == .failed)
  }

  /// A recorded nomination cannot bring an earlier pair back.
  @Test func anOvertakenNominationCountsNoMore() throws {
    let (a, b, network) = try connected(["192.168.1.2", "10.0.0.2"])
    let first = try #require(a.agent.selectedPair)
    let recorded = try #require(
      a.sent.last { (try? STUNMessage(decoding: $0.bytes))?.usesCandidate ?? false })
    a.move(from: "\(first.localAddress.ip)", to: "192.168.1.7", now: network.now)
    network.drain(a)
    network.run(for: .seconds(1))
    let chosen = try #require(b.agent.selectedPair)
    #expect(chosen.remoteAddress != first.localAddress)
    for _ in 0..<5 {
      b.agent.handle(
        datagram: recorded.bytes, from: first.localAddress, to: b.addresses[0], now: network.now)
      network.drain(b)
      network.run(for: .milliseconds(100))
    }
    #expect(b.agent.selectedPair?.remoteAddress == chosen.remoteAddress)
  }

  @Test func addressesThatComeAndGoLeaveNothingBehind() throws {
    let (a, b, network) = try connected()
    for number in 0..<300 {
      b.move(
        from: "192.168.1.\(number == 0 ? 3 : 10 + (number - 1) % 200)", to: "192.168.1.\(10 + number % 200)",
        now: network.now)
      network.drain(b)
      run(network, a, b, for: .milliseconds(300))
    }
    #expect(network.areConnected && b.agent.localCandidates.count == 1 && b.agent.statistics.count <= 2)
    #expect(a.agent.statistics.count <= 100)
    network.run(for: .seconds(60))
    #expect(a.agent.statistics.count <= 6)
  }
}
