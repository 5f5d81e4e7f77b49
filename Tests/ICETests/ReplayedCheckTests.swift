import ICE
import STUN
import TestSupport
import Testing
import Wire

/// A check of the peer's that somebody captured and repeats from forged addresses. Its integrity is right, so only the
/// answers to checks of our own tell it from a genuine one.
@Suite struct ReplayedCheckTests {
  private let hashes = TestHashes()
  private let ours = ICECredentials(usernameFragment: "ouruser1", password: "our-password-0123456789")
  private let theirs = ICECredentials(usernameFragment: "theiruse", password: "their-password-01234567")
  private let remote = TransportAddress(ip: .v4(0xc0a8_0103), port: 6000)
  private let start = Instant.zero + .seconds(1)

  private func local(_ number: UInt32 = 0) -> TransportAddress {
    TransportAddress(ip: .v4(0xc0a8_0102 + number << 8), port: 5000)
  }

  private func forged(_ number: UInt16) -> TransportAddress {
    TransportAddress(ip: .v4(0x0a00_0000 + UInt32(number)), port: 1000 + number)
  }

  private func agent() -> ICEAgent {
    ICEAgent(role: .controlled, credentials: ours, hashes: hashes, random: SeededGenerator(seed: 9))
  }

  private func check() -> [UInt8] {
    STUNMessage(
      .request, transactionID: STUNTransactionID(bytes: Array(1...12))!,
      attributes: [.username("ouruser1:theiruse"), .priority(1_845_501_695), .iceControlling(1), .useCandidate]
    ).encode(key: Array(ours.password.utf8), hashes: hashes)
  }

  /// The requests that the agent has sent since the last call, with where to.
  private func requests(_ agent: inout ICEAgent) -> [(message: STUNMessage, to: TransportAddress)] {
    var requests: [(STUNMessage, TransportAddress)] = []
    while let output = agent.poll() {
      guard case .transmit(let bytes, _, let to) = output, let message = try? STUNMessage(decoding: bytes),
        message.messageClass == .request
      else { continue }
      requests.append((message, to))
    }
    return requests
  }

  /// The peer sends a check from `address` and answers the one that this triggers.
  private func speak(_ agent: inout ICEAgent, from address: TransportAddress, now: Instant) throws {
    agent.handle(datagram: check(), from: address, to: local(), now: now)
    let triggered = try #require(requests(&agent).first { $0.to == address }, "no check to \(address)")
    let answer = STUNMessage(
      .successResponse, transactionID: triggered.message.transactionID, attributes: [.xorMappedAddress(local())]
    ).encode(key: Array(theirs.password.utf8), hashes: hashes)
    agent.handle(datagram: answer, from: address, to: local(), now: now + .milliseconds(1))
    #expect(agent.hasValidPair(with: address))
  }

  @Test(arguments: [(1, 0), (5, 12)] as [(UInt32, UInt32)])
  func theNextGenuineAddressIsLearnedAndTheSelectedPairStays(locals: UInt32, remotes: UInt32) throws {
    var agent = agent()
    var now = start
    for number in 0..<locals { agent.addLocalCandidate(.host(local(number)), now: now) }
    agent.setRemoteCredentials(theirs, now: now)
    for number in 0..<remotes {
      let address = TransportAddress(ip: .v4(0xac10_0000 + number), port: 9)
      agent.addRemoteCandidate(.host(address), now: now)
    }
    try speak(&agent, from: remote, now: now)
    // A second address that has shown itself is no more easily lost than it was to come by.
    let spare = TransportAddress(ip: remote.ip, port: 6001)
    try speak(&agent, from: spare, now: now)
    let selected = try #require(agent.selectedPair?.remoteAddress)
    for number: UInt16 in 0..<300 {
      now += .milliseconds(5)
      agent.handle(datagram: check(), from: forged(number), to: local(), now: now)
      _ = requests(&agent)
    }
    #expect(agent.statistics.count <= 100)
    #expect(agent.selectedPair?.remoteAddress == selected)
    #expect(agent.hasValidPair(with: remote) && agent.hasValidPair(with: spare))
    try speak(&agent, from: TransportAddress(ip: .v4(0xc0a8_0109), port: 7), now: now)
    #expect(!agent.hasValidPair(with: forged(299)))
  }

  @Test func checksBeforeTheDescriptionLeaveRoomForTheNextOne() {
    var agent = agent()
    agent.addLocalCandidate(.host(local()), now: start)
    for number: UInt16 in 0..<50 {
      agent.handle(datagram: check(), from: forged(number), to: local(), now: start)
    }
    agent.handle(datagram: check(), from: remote, to: local(), now: start)
    _ = requests(&agent)
    agent.setRemoteCredentials(theirs, now: start)
    let sent = requests(&agent)
    #expect(sent.contains { $0.to == remote })
    #expect(sent.count <= 16)
  }
}
