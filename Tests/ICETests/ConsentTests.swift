import ICE
import STUN
import TestSupport
import Testing
import Wire

@Suite struct ConsentTests {
  private func connected(
    _ addressesOfA: [String] = ["192.168.1.2"], _ addressesOfB: [String] = ["192.168.1.3"]
  ) throws -> (SimulatedPeer, SimulatedPeer, SimulatedNetwork) {
    let a = SimulatedPeer(.controlling, addresses: addressesOfA, seed: 3)
    let b = SimulatedPeer(.controlled, addresses: addressesOfB, seed: 4)
    let network = SimulatedNetwork(a, b)
    network.exchange()
    _ = try #require(network.timeToConnect())
    network.run(for: .seconds(1))
    #expect(a.agent.state == .completed && b.agent.state == .completed)
    a.states = []
    b.states = []
    return (a, b, network)
  }

  /// RFC 7675 section 5.1: 4 to 6 seconds apart; our own probes stay away while the peer's checks come.
  @Test func consentIsCheckedEveryFourToSixSeconds() throws {
    let (a, _, network) = try connected()
    let start = network.now
    for _ in 0..<1200 {
      network.run(for: .milliseconds(100))
      a.agent.noteReceived(from: TransportAddress(ip: IPAddress("192.168.1.3")!, port: 5000), now: network.now)
      network.drain(a)
    }
    let times = a.sent.filter { $0.at >= start && $0.bytes.starts(with: [0, 1]) }.map(\.at)
    let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
    #expect((19...31).contains(times.count))
    #expect(gaps.allSatisfy { $0 >= .seconds(4) && $0 <= .seconds(6) })
    #expect(Set(gaps).count > gaps.count / 2, "the gaps are random")
    #expect(a.states.isEmpty)
  }

  @Test func anIdlePathStaysConnectedForAnHour() throws {
    let (a, b, network) = try connected()
    network.run(for: .seconds(3600))
    #expect(a.states.isEmpty && b.states.isEmpty)
  }

  @Test func silenceIsWeakAfterFiveSecondsAndRecovers() throws {
    let (a, b, network) = try connected()
    let cut = network.now
    network.passes = { _, _ in false }
    network.run(for: .seconds(12))
    #expect(a.statesSeen == [.disconnected] && b.statesSeen == [.disconnected])
    // What was heard last came up to one exchange before the cut.
    #expect(a.states[0].at - cut >= .seconds(1) && a.states[0].at - cut <= .milliseconds(5100))
    #expect(a.agent.selectedPair != nil, "still in use")
    network.passes = { _, _ in true }
    let mended = network.now
    network.run(for: .seconds(2))
    #expect(a.statesSeen == [.disconnected, .completed] && b.statesSeen == [.disconnected, .completed])
    #expect(a.states[1].at - mended <= .milliseconds(1100))
  }

  @Test func dataKeepsAPathFromBeingWeakButNotConsent() throws {
    let (a, b, network) = try connected()
    let cut = network.now
    // Answers to us are lost; data still comes.
    network.passes = { from, _ in from != b.addresses[0] }
    var failedAt: Instant?
    for _ in 0..<400 where failedAt == nil {
      network.run(for: .milliseconds(100))
      a.agent.noteReceived(from: b.addresses[0], now: network.now)
      network.drain(a)
      if a.agent.state == .failed { failedAt = network.now }
    }
    #expect(a.statesSeen == [.failed])
    #expect(try #require(failedAt) - cut <= .seconds(31) && (try #require(failedAt)) - cut >= .seconds(23))
  }

  /// Six checks in a row are lost once in some hundred.
  @Test func heavyLossDoesNotEndConsent() throws {
    let (a, b, network) = try connected()
    network.loss = 0.2
    for _ in 0..<36_000 {
      network.run(for: .milliseconds(200))
      a.agent.noteReceived(from: b.addresses[0], now: network.now)
      b.agent.noteReceived(from: a.addresses[0], now: network.now)
      network.drain(a)
      network.drain(b)
    }
    #expect(a.states.isEmpty && b.states.isEmpty)
  }

  @Test func consentExpiresAfterThirtySecondsForGood() throws {
    let (a, b, network) = try connected()
    let cut = network.now
    network.passes = { _, _ in false }
    network.run(for: .seconds(31))
    #expect(a.statesSeen == [.disconnected, .failed] && b.statesSeen == [.disconnected, .failed])
    #expect(a.states[1].at - cut >= .seconds(23) && a.states[1].at - cut <= .seconds(30))
    #expect(a.agent.selectedPair == nil)
    let count = (a.sent.count, b.sent.count)
    network.passes = { _, _ in true }
    network.run(for: .seconds(60))
    #expect((a.sent.count, b.sent.count) == count, "the credentials are not used on this path again")
    #expect(a.agent.state == .failed)
    // Not even to answer.
    let request = try #require(b.sent.last { $0.bytes.starts(with: [0, 1]) })
    a.agent.handle(datagram: request.bytes, from: b.addresses[0], to: a.addresses[0], now: network.now)
    #expect(a.agent.poll() == nil)
  }

  @Test func anotherPairTakesOverWhenTheSelectedOneFallsSilent() throws {
    let (a, b, network) = try connected(["192.168.1.2", "10.0.0.2"], ["192.168.1.3", "10.0.0.3"])
    let dead = try #require(a.agent.selectedPair)
    network.passes = { from, to in from.ip != dead.localAddress.ip && to.ip != dead.localAddress.ip }
    network.run(for: .seconds(7))
    #expect(a.agent.state == .connected || a.agent.state == .completed)
    #expect(b.agent.state == .connected || b.agent.state == .completed)
    #expect(a.agent.selectedPair?.localAddress != dead.localAddress)
    #expect(a.agent.selectedPair?.nominated == true && b.agent.selectedPair?.nominated == true)
    #expect(b.agent.selectedPair?.remoteAddress == a.agent.selectedPair?.localAddress)
    network.run(for: .seconds(60))
    #expect(a.agent.state == .completed && b.agent.state == .completed)
  }

  /// The child has another address: its pictures come from there, and what it is told has to go there.
  @Test func whatIsSentFollowsTheAddressThatDataComesFrom() throws {
    let inside = SimulatedPeer(.controlled, addresses: ["192.168.1.2"], seed: 9)
    let outside = SimulatedPeer(.controlling, addresses: ["198.51.100.7"], seed: 10)
    inside.natAddress = .v4(0xcb00_7101)
    let network = SimulatedNetwork(inside, outside)
    network.exchange()
    _ = try #require(network.timeToConnect())
    network.run(for: .seconds(20))
    inside.rebind()
    let moved = network.now
    while network.now - moved < .seconds(6) {
      network.run(for: .milliseconds(20))
      if let port = inside.mappings.values.first {
        outside.agent.noteReceived(from: TransportAddress(ip: .v4(0xcb00_7101), port: port), now: network.now)
        network.drain(outside)
        if outside.agent.selectedPair?.remoteAddress.port == port { break }
      }
    }
    // The other side asks for an answer after 3 s of silence; then it is known.
    #expect(network.now - moved < .seconds(4))
    network.run(for: .seconds(30))
    #expect(network.areConnected && outside.agent.selectedPair?.nominated == true)
  }

  @Test(arguments: [true, false])
  func aNATThatRebindsCostsSecondsOnly(natIsControlling: Bool) throws {
    let inside = SimulatedPeer(natIsControlling ? .controlling : .controlled, addresses: ["192.168.1.2"], seed: 5)
    let outside = SimulatedPeer(natIsControlling ? .controlled : .controlling, addresses: ["198.51.100.7"], seed: 6)
    inside.natAddress = .v4(0xcb00_7101)
    let network = SimulatedNetwork(inside, outside)
    network.exchange()
    _ = try #require(network.timeToConnect())
    network.run(for: .seconds(20))
    for _ in 0..<3 {
      inside.rebind()
      network.run(for: .seconds(12))
      let port = try #require(inside.mappings.values.first)
      #expect(outside.agent.selectedPair?.remoteAddress.port == port)
      #expect(inside.agent.selectedPair?.nominated == true && outside.agent.selectedPair?.nominated == true)
    }
    #expect(network.areConnected)
  }

  @Test func aNightOfRebindingStaysBounded() throws {
    let inside = SimulatedPeer(.controlled, addresses: ["192.168.1.2"], seed: 7)
    let outside = SimulatedPeer(.controlling, addresses: ["198.51.100.7"], seed: 8)
    inside.natAddress = .v4(0xcb00_7101)
    let network = SimulatedNetwork(inside, outside)
    network.exchange()
    var sent = 0
    for _ in 0..<80 {
      network.run(for: .seconds(30))
      inside.rebind()
      sent = outside.sent.count
    }
    network.run(for: .seconds(30))
    #expect(network.areConnected)
    #expect(outside.agent.statistics.count <= 6, "addresses that are gone are forgotten")
    #expect(outside.sent.count - sent < 100)
  }
}
