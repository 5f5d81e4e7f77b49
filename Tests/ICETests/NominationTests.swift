import ICE
import STUN
import TestSupport
import Testing
import Wire

/// What controlling peers do, each played by hand against a controlled agent with two host addresses.
@Suite struct NominationTests {
  let hashes = TestHashes()
  let ours = ICECredentials(usernameFragment: "ouruser1", password: "our-password-0123456789")
  let theirs = ICECredentials(usernameFragment: "theiruse", password: "their-password-01234567")
  let local = TransportAddress(ip: .v4(0xc0a8_0102), port: 5000)
  let wlan = TransportAddress(ip: .v4(0xc0a8_0103), port: 6000)
  let mobile = TransportAddress(ip: .v4(0x0a00_0003), port: 6000)

  /// An agent whose peer answers every check.
  final class Played {
    var agent: ICEAgent
    var now = Instant.zero + .seconds(1)
    let test: NominationTests
    private var nextID: UInt8 = 0
    var silent: Set<TransportAddress> = []

    /// Where the agent has nominated.
    var nominations: [TransportAddress] = []

    init(_ test: NominationTests, role: ICERole = .controlled) {
      self.test = test
      agent = ICEAgent(
        role: role, credentials: test.ours, hashes: test.hashes, random: SeededGenerator(seed: 77))
      agent.addLocalCandidate(.host(test.local), now: now)
      agent.setRemoteCredentials(test.theirs, now: now)
      agent.addRemoteCandidate(.host(test.wlan, localPreference: 200), now: now)
      agent.addRemoteCandidate(.host(test.mobile, localPreference: 100), now: now)
      answer()
    }

    func check(from remote: TransportAddress, nominating: Bool) {
      nextID += 1
      let attributes: [STUNAttribute] = [.username("ouruser1:theiruse"), .priority(1), .iceControlling(5)]
      let id = STUNTransactionID(bytes: [nextID] + Array(repeating: 1, count: 11))!
      let request = STUNMessage(
        .request, transactionID: id, attributes: attributes + (nominating ? [.useCandidate] : []))
      agent.handle(
        datagram: request.encode(key: Array(test.ours.password.utf8), hashes: test.hashes), from: remote,
        to: test.local, now: now)
      answer()
    }

    func answer() {
      while let output = agent.poll() {
        guard case .transmit(let bytes, _, let to) = output, !silent.contains(to),
          let message = try? STUNMessage(decoding: bytes), message.messageClass == .request
        else { continue }
        if message.usesCandidate { nominations.append(to) }
        let response = STUNMessage(
          .successResponse, transactionID: message.transactionID, attributes: [.xorMappedAddress(test.local)])
        agent.handle(
          datagram: response.encode(key: Array(test.theirs.password.utf8), hashes: test.hashes), from: to,
          to: test.local, now: now)
      }
    }

    func pass(_ duration: Duration) {
      let end = now + duration
      while let deadline = agent.nextDeadline, deadline <= end {
        now = deadline
        agent.handleTimeout(now: now)
        answer()
      }
      now = end
    }
  }

  @Test func aValidPairCarriesDataBeforeNomination() {
    let played = Played(self)
    #expect(played.agent.selectedPair?.remoteAddress == wlan && played.agent.state == .connected)
    #expect(played.agent.selectedPair?.nominated == false)
  }

  @Test func regularNominationOfALessGoodPairIsObeyed() {
    let played = Played(self)
    played.pass(.milliseconds(30))
    played.check(from: wlan, nominating: false)
    played.check(from: mobile, nominating: false)
    played.check(from: mobile, nominating: true)
    #expect(played.agent.selectedPair?.remoteAddress == mobile && played.agent.state == .completed)
    // Checks for consent do not repeat the nomination with every peer.
    played.check(from: mobile, nominating: false)
    #expect(played.agent.selectedPair?.nominated == true)
  }

  /// RFC 5245 section 8.1.1.2; aiortc and Chromium at the start.
  @Test func ofSeveralAggressiveNominationsTheBestPairIsTaken() {
    let played = Played(self)
    played.pass(.milliseconds(30))
    for remote in [mobile, wlan, mobile] { played.check(from: remote, nominating: true) }
    #expect(played.agent.selectedPair?.remoteAddress == wlan)
  }

  @Test func aBrowserThatMovesToALessGoodPairIsFollowed() {
    let played = Played(self)
    played.pass(.milliseconds(30))
    played.check(from: wlan, nominating: true)
    played.pass(.seconds(10))
    played.check(from: mobile, nominating: true)
    played.check(from: wlan, nominating: false)
    #expect(played.agent.selectedPair?.remoteAddress == mobile)
    played.check(from: wlan, nominating: true)
    #expect(played.agent.selectedPair?.remoteAddress == wlan, "and back")
  }

  @Test func aNominatedPairThatIsSilentGivesWayToTheOtherNominatedOne() {
    let played = Played(self)
    played.pass(.milliseconds(30))
    played.check(from: wlan, nominating: true)
    played.silent = [wlan]
    for _ in 0..<4 {
      played.pass(.seconds(2))
      played.check(from: mobile, nominating: true)
    }
    #expect(played.agent.selectedPair?.remoteAddress == mobile && played.agent.state == .completed)
  }

  @Test func aControllingAgentWaitsBrieflyForABetterPair() throws {
    let a = SimulatedPeer(.controlling, addresses: ["192.168.1.2"], seed: 1)
    let b = SimulatedPeer(.controlled, addresses: ["192.168.1.3"], seed: 2)
    a.natAddress = .v4(0xcb00_7101)
    let network = SimulatedNetwork(a, b)
    network.exchange()
    network.give([.host(TransportAddress(ip: .v4(0xc0a8_0163), port: 1))], to: a)
    _ = try #require(network.timeToConnect())
    let connected = network.now
    network.run(for: .seconds(1))
    let nomination = try #require(STUNMessage.requests(of: a).first { $0.usesCandidate })
    let at = try #require(
      a.sent.first { (try? STUNMessage(decoding: $0.bytes))?.transactionID == nomination.transactionID }?.at)
    #expect(at - connected <= .milliseconds(60))
  }

  /// RFC 8445 section 2.5: a lite peer, as media servers are, asks nothing by itself.
  @Test func aLitePeerThatOnlyAnswersIsNominatedAndStays() {
    let played = Played(self, role: .controlling)
    played.pass(.seconds(2))
    #expect(played.agent.selectedPair?.remoteAddress == wlan && played.agent.state == .completed)
    #expect(Set(played.nominations) == [wlan])
    played.pass(.seconds(90))
    #expect(played.agent.selectedPair?.remoteAddress == wlan && played.agent.state == .completed)
    // Its first address goes silent.
    played.silent = [wlan]
    played.pass(.seconds(40))
    #expect(played.agent.selectedPair?.remoteAddress == mobile && played.agent.selectedPair?.nominated == true)
  }

  @Test func aDirectPathIsNominatedInTheNextPacket() throws {
    let a = SimulatedPeer(.controlling, addresses: ["192.168.1.2"], seed: 1)
    let b = SimulatedPeer(.controlled, addresses: ["192.168.1.3"], seed: 2)
    let network = SimulatedNetwork(a, b)
    network.exchange()
    network.give([.host(TransportAddress(ip: .v4(0xc0a8_0163), port: 1))], to: a)
    network.run(for: .milliseconds(30))
    #expect(b.agent.selectedPair?.nominated == true)
  }
}
