import ICE
import STUN
import TestSupport
import Testing
import Wire

/// What a stranger, or a peer that is wrong, can bring about: an error response at most.
@Suite struct SecurityTests {
  let hashes = TestHashes()
  let local = TransportAddress(ip: .v4(0xc0a8_0102), port: 5000)
  let remote = TransportAddress(ip: .v4(0xc0a8_0103), port: 6000)
  let ours = ICECredentials(usernameFragment: "ouruser1", password: "our-password-0123456789")
  let theirs = ICECredentials(usernameFragment: "theiruse", password: "their-password-01234567")
  let now = Instant.zero + .seconds(1)

  private func agent(_ role: ICERole = .controlled, configuration: ICEConfiguration = ICEConfiguration()) -> ICEAgent {
    var agent = ICEAgent(
      role: role, credentials: ours, configuration: configuration, hashes: hashes, random: SeededGenerator(seed: 9))
    agent.addLocalCandidate(.host(local), now: now)
    agent.setRemoteCredentials(theirs, now: now)
    _ = drain(&agent)
    return agent
  }

  private func drain(_ agent: inout ICEAgent) -> [ICEOutput] {
    var outputs: [ICEOutput] = []
    while let output = agent.poll() { outputs.append(output) }
    return outputs
  }

  private func messages(_ outputs: [ICEOutput]) -> [STUNMessage] {
    outputs.compactMap { if case .transmit(let bytes, _, _) = $0 { try? STUNMessage(decoding: bytes) } else { nil } }
  }

  private func request(
    _ attributes: [STUNAttribute], username: String? = "ouruser1:theiruse", password: String? = nil, id: UInt8 = 1
  ) -> [UInt8] {
    STUNMessage(
      .request, transactionID: STUNTransactionID(bytes: [id] + Array(repeating: 0, count: 11))!,
      attributes: (username.map { [.username($0)] } ?? []) + attributes
    ).encode(key: Array((password ?? ours.password).utf8), hashes: hashes)
  }

  private let check: [STUNAttribute] = [.priority(1_845_501_695), .iceControlling(1), .useCandidate]

  @Test(arguments: [
    ("ouruser1:theiruse", "wrong password wrong pass"), ("ouruser2:theiruse", "our-password-0123456789"),
    ("ouruser1:strangers", "our-password-0123456789"), ("ouruser1", "our-password-0123456789"),
  ])
  func refusesAWrongUserOrPasswordAndForgetsIt(username: String, password: String) {
    var agent = agent()
    agent.handle(
      datagram: request(check, username: username, password: password), from: remote, to: local, now: now)
    let outputs = drain(&agent)
    #expect(messages(outputs).map(\.errorCode) == [401] && outputs.count == 1)
    #expect(agent.statistics.isEmpty && agent.selectedPair == nil)
  }

  /// Where checks would go: to addresses that the peer names, at once, one by one, and in generation after generation.
  @Test func aLentSessionNamesSoManyAddressesAndThenOneNowAndThen() throws {
    var configuration = ICEConfiguration()
    configuration.maximumRemoteCandidates = 20
    configuration.signalledCandidateInterval = .seconds(5)
    var agent = agent(configuration: configuration)
    var asked: Set<TransportAddress> = []
    func name(_ ports: Range<UInt16>, at time: Instant) throws {
      for port in ports {
        agent.addRemoteCandidate(.host(TransportAddress(ip: remote.ip, port: port)), now: time)
      }
    }
    func pass(from time: Instant, seconds: Int) {
      for tick in 0..<seconds * 50 {
        agent.handleTimeout(now: time + .milliseconds(tick * 20))
        while let output = agent.poll() {
          if case .transmit(_, _, let to) = output { asked.insert(to) }
        }
      }
    }
    try name(7000..<7060, at: now)
    pass(from: now, seconds: 2)
    #expect(asked.count == 20)
    let again = now + .seconds(2)
    agent.setRemoteCredentials(
      ICECredentials(usernameFragment: "another1", password: "another-password-0123456"), now: again)
    try name(8000..<8060, at: again)
    pass(from: again, seconds: 2)
    #expect(asked.count == 20)
    // Long afterwards a restart is as good as the first time.
    let later = now + .seconds(120)
    agent.setRemoteCredentials(
      ICECredentials(usernameFragment: "another2", password: "another-password-0123456"), now: later)
    try name(9000..<9060, at: later)
    pass(from: later, seconds: 2)
    #expect(asked.count == 40)
  }

  @Test func refusesARequestWithoutUserOrIntegrity() {
    var agent = agent()
    let id = STUNTransactionID(bytes: Array(1...12))!
    let bare = STUNMessage(.request, transactionID: id, attributes: check).encode(hashes: hashes)
    for datagram in [bare, request(check, username: nil)] {
      agent.handle(datagram: datagram, from: remote, to: local, now: now)
      #expect(messages(drain(&agent)).map(\.errorCode) == [400])
    }
    #expect(agent.statistics.isEmpty)
  }

  @Test func neverAnswersAStrangerWithMoreThanCame() {
    var agent = agent()
    let id = STUNTransactionID(bytes: Array(1...12))!
    // A header alone, and a forged address in front of it: the answer would be twice as long.
    let short = STUNMessage(.request, transactionID: id, attributes: []).encode(hashes: hashes)
    for datagram in [Array(short.prefix(20)), short, request([], username: "a:b", password: "wrong")] {
      agent.handle(datagram: datagram, from: remote, to: local, now: now)
      for case .transmit(let bytes, _, _) in drain(&agent) { #expect(bytes.count <= datagram.count) }
    }
    #expect(drain(&agent).isEmpty && agent.statistics.isEmpty)
  }

  @Test func answersAnUnknownRequiredAttributeWith420() throws {
    var agent = agent()
    let strange = STUNAttributeType(rawValue: 0x7fff)
    agent.handle(datagram: request(check + [.raw(strange, [])]), from: remote, to: local, now: now)
    let response = try #require(messages(drain(&agent)).first)
    #expect(response.errorCode == 420 && response.attributes.contains(.unknownAttributes([strange])))
    #expect(response.verifyIntegrity(key: Array(ours.password.utf8), hashes: hashes))
    #expect(agent.statistics.isEmpty)
  }

  @Test func takesTheAttributesThatBrowsersAdd() {
    var agent = agent()
    let google: [STUNAttribute] = [0xc057, 0xc059, 0xc001].map { .raw(STUNAttributeType(rawValue: $0), [0, 1, 0, 10]) }
    agent.handle(datagram: request(check + google), from: remote, to: local, now: now)
    #expect(messages(drain(&agent)).map(\.messageClass) == [.successResponse, .request])
  }

  @Test func answersAndTriggersAtOnceOnTheSamePath() throws {
    var agent = agent()
    agent.handle(datagram: request(check), from: remote, to: local, now: now)
    let outputs = drain(&agent)
    for case .transmit(_, let from, let to) in outputs { #expect(from == local && to == remote) }
    let sent = messages(outputs)
    #expect(sent.map(\.messageClass) == [.successResponse, .request])
    #expect(sent[0].mappedAddress == remote)
    #expect(sent[0].verifyIntegrity(key: Array(ours.password.utf8), hashes: hashes))
    #expect(sent[1].username == "theiruse:ouruser1" && sent[1].iceControlled != nil && !sent[1].usesCandidate)
    #expect(sent[1].verifyIntegrity(key: Array(theirs.password.utf8), hashes: hashes))
    #expect(sent[1].hasValidFingerprint == true)
  }

  private func response(
    to request: STUNMessage, password: String, _ attributes: [STUNAttribute]? = nil,
    messageClass: STUNClass = .successResponse
  ) -> [UInt8] {
    STUNMessage(
      messageClass, transactionID: request.transactionID, attributes: attributes ?? [.xorMappedAddress(local)]
    ).encode(key: Array(password.utf8), hashes: hashes)
  }

  @Test func believesNoResponseThatIsNotSignedByThePeer() throws {
    var agent = agent()
    agent.handle(datagram: request(check), from: remote, to: local, now: now)
    let ask = try #require(messages(drain(&agent)).last)
    let error: [STUNAttribute] = [.errorCode(code: 400, reason: "")]
    agent.handle(datagram: response(to: ask, password: "no"), from: remote, to: local, now: now)
    agent.handle(
      datagram: response(to: ask, password: "no", error, messageClass: .errorResponse), from: remote, to: local,
      now: now)
    #expect(agent.statistics.first?.state == .inProgress && agent.selectedPair == nil)
    agent.handle(datagram: response(to: ask, password: theirs.password), from: remote, to: local, now: now)
    #expect(agent.statistics.first?.state == .succeeded && agent.selectedPair?.nominated == true)
  }

  @Test func aReplayedResponseRenewsNothing() throws {
    var agent = agent()
    agent.handle(datagram: request(check), from: remote, to: local, now: now)
    let ask = try #require(messages(drain(&agent)).last)
    let answer = response(to: ask, password: theirs.password)
    agent.handle(datagram: answer, from: remote, to: local, now: now)
    var time = now
    while let deadline = agent.nextDeadline, deadline < now + .seconds(60) {
      time = deadline
      agent.handle(datagram: answer, from: remote, to: local, now: time)
      agent.handleTimeout(now: time)
      _ = drain(&agent)
    }
    #expect(agent.state == .failed && agent.selectedPair == nil)
    #expect(agent.statistics.first?.responsesReceived == 1)
  }

  @Test func aResponseFromElsewhereFailsThePair() throws {
    var agent = agent()
    agent.handle(datagram: request(check), from: remote, to: local, now: now)
    let ask = try #require(messages(drain(&agent)).last)
    let other = TransportAddress(ip: remote.ip, port: 7)
    agent.handle(datagram: response(to: ask, password: theirs.password), from: other, to: local, now: now)
    #expect(agent.selectedPair == nil)
    #expect(agent.statistics.allSatisfy { $0.state == .failed })
  }

  @Test func aRoleConflictIsRefusedOrRepairedByTieBreaker() {
    var stubborn = agent(.controlling)
    stubborn.handle(
      datagram: request([.priority(1), .iceControlling(0)]), from: remote, to: local, now: now)
    #expect(messages(drain(&stubborn)).map(\.errorCode) == [487] && stubborn.role == .controlling)
    stubborn.handle(
      datagram: request([.priority(1), .iceControlling(.max)], id: 2), from: remote, to: local, now: now)
    #expect(messages(drain(&stubborn)).first?.messageClass == .successResponse && stubborn.role == .controlled)

    var yielding = agent(.controlled)
    yielding.handle(datagram: request([.priority(1), .iceControlled(.max)]), from: remote, to: local, now: now)
    #expect(messages(drain(&yielding)).map(\.errorCode) == [487] && yielding.role == .controlled)
    yielding.handle(datagram: request([.priority(1), .iceControlled(0)], id: 2), from: remote, to: local, now: now)
    #expect(messages(drain(&yielding)).first?.messageClass == .successResponse && yielding.role == .controlling)
  }

  /// RFC 8445 section 7.2.5.1.
  @Test func whoHasToSwitchChecksAgainWithAnotherTieBreaker() throws {
    var agent = agent()
    agent.handle(datagram: request(check), from: remote, to: local, now: now)
    let ask = try #require(messages(drain(&agent)).last)
    let conflict = response(
      to: ask, password: theirs.password, [.errorCode(code: 487, reason: "")], messageClass: .errorResponse)
    agent.handle(datagram: conflict, from: remote, to: local, now: now)
    agent.handleTimeout(now: now + .milliseconds(50))
    let again = try #require(messages(drain(&agent)).last)
    #expect(agent.role == .controlling && again.iceControlling != nil)
    #expect(again.iceControlling != ask.iceControlled)
  }

  @Test func candidatesPairsAndEarlyChecksAreBounded() {
    var agent = ICEAgent(
      role: .controlled, credentials: ours, hashes: hashes, random: SeededGenerator(seed: 9))
    for host: UInt32 in 1...200 {
      agent.addLocalCandidate(.host(TransportAddress(ip: .v4(0xc0a8_0000 + host), port: 5000)), now: now)
      agent.addRemoteCandidate(.host(TransportAddress(ip: .v4(0x0a00_0000 + host), port: 5000)), now: now)
      let from = TransportAddress(ip: .v4(0x0b00_0000 + host), port: 5000)
      agent.handle(datagram: request(check), from: from, to: local, now: now)
    }
    agent.setRemoteCredentials(theirs, now: now)
    for host: UInt32 in 1...200 {
      agent.addRemoteCandidate(.host(TransportAddress(ip: .v4(0x0c00_0000 + host), port: 5000)), now: now)
      let from = TransportAddress(ip: .v4(0x0d00_0000 + host), port: 5000)
      agent.handle(datagram: request(check), from: from, to: local, now: now)
    }
    #expect(agent.localCandidates.count == 32)
    #expect(agent.statistics.count <= 100)
    var time = now
    for _ in 0..<2000 {
      guard let deadline = agent.nextDeadline else { break }
      #expect(deadline >= time)
      time = deadline
      agent.handleTimeout(now: time)
      _ = drain(&agent)
    }
    #expect(time > now + .seconds(10), "time goes on")
  }

  /// Checks of our own begin no closer than Ta.
  @Test func ordinaryChecksArePaced() {
    var agent = agent()
    for port: UInt16 in 1...10 {
      agent.addRemoteCandidate(.host(TransportAddress(ip: remote.ip, port: port)), now: now)
    }
    #expect(messages(drain(&agent)).count == 1)
    agent.handleTimeout(now: now + .milliseconds(19))
    #expect(drain(&agent).isEmpty)
    agent.handleTimeout(now: now + .milliseconds(20))
    #expect(messages(drain(&agent)).count == 1)
  }

  @Test func aClosedAgentIsSilent() {
    var agent = agent()
    agent.addRemoteCandidate(.host(remote), now: now)
    agent.close()
    #expect(drain(&agent).count == 1 && agent.state == .closed && agent.nextDeadline == nil)
    agent.handle(datagram: request(check), from: remote, to: local, now: now)
    agent.addRemoteCandidate(.host(local), now: now)
    agent.handleTimeout(now: now + .seconds(100))
    #expect(drain(&agent).isEmpty)
  }

  @Test func findsTheUserFragmentsOfARequest() {
    let found = ICEUsername(ofBindingRequest: request(check))
    #expect(found?.local == "ouruser1" && found?.remote == "theiruse")
    #expect(ICEUsername(ofBindingRequest: request(check, username: nil)) == nil)
    #expect(ICEUsername(ofBindingRequest: request(check, username: "nocolon")) == nil)
    #expect(ICEUsername(ofBindingRequest: Array(request(check).prefix(30))) == nil)
    let id = STUNTransactionID(bytes: Array(1...12))!
    let other = STUNMessage(.successResponse, transactionID: id, attributes: [.username("a:b")]).encode(hashes: hashes)
    #expect(ICEUsername(ofBindingRequest: other) == nil)
  }
}
