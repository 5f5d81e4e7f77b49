import STUN
import TURN
import TestSupport
import Testing
import Wire

@Suite struct TURNAllocationTests {
  @Test func anAllocationIsMadeAfterOneChallenge() {
    let lab = TURNLab.allocated()
    #expect(lab.relayed == lab.server.relayed && lab.mapped == FakeTURNServer.client)
    #expect(lab.client.relayedAddress == lab.server.relayed && lab.client.mappedAddress == FakeTURNServer.client)
    #expect(lab.server.requests == [.allocate: 2] && lab.server.complaints.isEmpty)
  }

  @Test func itLastsForHoursWhateverTheServersNonceDoes() {
    var lab = TURNLab()
    lab.server.nonceLifetime = .seconds(97)
    lab.client.allocate(now: lab.now)
    lab.run(for: .seconds(5))
    for minute in 0..<(12 * 60) {
      lab.send([UInt8(minute % 256)])
      lab.run(for: .seconds(60))
      #expect(lab.server.isAllocated(at: lab.now))
    }
    #expect(lab.end == nil && lab.server.complaints.isEmpty && lab.server.delivered.count == 720)
    #expect(lab.server.staleNonces > 100 && lab.server.requests[.allocate] == 2)
  }

  /// Half of all that the client sends.
  @Test func lostRequestsAreRepeated() {
    var lab = TURNLab()
    var random = SeededGenerator(seed: 4)
    lab.isLost = { _, _ in Bool.random(using: &random) }
    lab.client.allocate(now: lab.now)
    lab.run(for: .seconds(3 * 3600))
    #expect(lab.relayed != nil && lab.end == nil && lab.server.isAllocated(at: lab.now))
  }

  @Test func fourMinutesWithoutANetworkDoNotEndIt() {
    var lab = TURNLab.allocated()
    lab.send([1])
    lab.run(for: .seconds(290))
    let cut = lab.now
    lab.isLost = { _, now in now < cut + .seconds(240) }
    lab.run(for: .seconds(600))
    #expect(lab.end == nil && lab.server.isAllocated(at: lab.now) && lab.server.requests[.allocate] == 2)
    lab.send([2])
    lab.run(for: .seconds(1))
    #expect(lab.server.delivered.map(\.payload) == [[1], [2]])
  }

  @Test func aServerThatIsGoneEndsItWhenItsTimeIsOver() {
    var lab = TURNLab.allocated()
    lab.isLost = { _, _ in true }
    lab.run(for: .seconds(700))
    #expect(lab.end == .timedOut && lab.client.nextDeadline == nil)
  }

  @Test func aServerThatNeverAnswersIsGivenUpAfterTwentySeconds() {
    var lab = TURNLab()
    lab.isLost = { _, _ in true }
    lab.client.allocate(now: lab.now)
    lab.run(for: .milliseconds(19_499))
    #expect(lab.end == nil && lab.sent.count == 7)
    lab.run(for: .seconds(1))
    #expect(lab.end == .timedOut)
  }

  @Test func aServerThatWasStartedAnewEndsItWithAMismatch() {
    var lab = TURNLab.allocated()
    lab.server.forget()
    lab.run(for: .seconds(400))
    #expect(lab.end == .mismatch && lab.end?.remedy == .newSocket)
  }

  @Test func aPortOfAnotherAllocationIsAMismatch() {
    var lab = TURNLab.allocated()
    let server = lab.server
    lab = TURNLab()
    lab.server = server
    lab.client.allocate(now: lab.now)
    lab.run(for: .seconds(1))
    #expect(lab.end == .mismatch)
  }

  @Test(arguments: [
    (437, TURNFailure.mismatch), (440, .familyNotSupported), (441, .wrongCredentials), (486, .quotaReached),
    (508, .insufficientCapacity), (403, .refused(code: 403, reason: "No[31m")),
    (500, .refused(code: 500, reason: "No[31m")),
  ])
  func refusalsHaveTheirNames(code: Int, failure: TURNFailure) {
    for signs in [true, false] {
      var lab = TURNLab()
      lab.server.signsErrors = signs
      lab.server.refusals[.allocate] = code
      lab.client.allocate(now: lab.now)
      lab.run(for: .seconds(1))
      #expect(lab.end == failure)
      #expect(!"\(failure)".isEmpty && !"\(failure)".contains("\u{1b}"))
    }
  }

  @Test(arguments: [("alice", "wrong"), ("bob", "secret")])
  func wrongCredentialsAreToldAfterTwoRequests(name: String, password: String) {
    var lab = TURNLab(TURNLab.configuration(credentials: TURNCredentials(username: name, password: password)))
    lab.client.allocate(now: lab.now)
    lab.run(for: .seconds(1))
    #expect(lab.end == .unauthorized && lab.server.requests == [.allocate: 2])
  }

  @Test func anIPv6AddressIsAskedFor() throws {
    let address = TransportAddress(ip: try #require(IPAddress("2001:db8::1")), port: 9)
    var lab = TURNLab(TURNLab.configuration(wantsIPv6: true))
    lab.server.relayed = address
    lab.client.allocate(now: lab.now)
    lab.run(for: .seconds(1))
    #expect(lab.relayed == address)
    let peer = TransportAddress(ip: try #require(IPAddress("2001:db8::2")), port: 9)
    lab.send([1], to: peer)
    lab.client.permit(TURNLab.peer, now: lab.now)
    lab.run(for: .seconds(1))
    #expect(lab.server.delivered.map(\.to) == [peer])
    #expect(lab.refused.map(\.code) == [443] && lab.refused.map(\.peer) == [TURNLab.peer])
    // A server that has none.
    lab = TURNLab(TURNLab.configuration(wantsIPv6: true))
    lab.client.allocate(now: lab.now)
    lab.run(for: .seconds(1))
    #expect(lab.end == .familyNotSupported)
  }

  @Test func closingTellsTheServer() {
    var lab = TURNLab.allocated()
    lab.client.close(now: lab.now)
    lab.run(for: .milliseconds(50))
    #expect(lab.end == .closed && !lab.server.isAllocated(at: lab.now))
  }

  @Test func closingTakesANewNonceAndDoesNotWaitForever() {
    var lab = TURNLab()
    lab.server.nonceLifetime = .seconds(20)
    lab.client.allocate(now: lab.now)
    lab.run(for: .seconds(30))
    lab.client.close(now: lab.now)
    lab.run(for: .milliseconds(100))
    #expect(lab.end == .closed && !lab.server.isAllocated(at: lab.now))
    lab = TURNLab.allocated()
    lab.isLost = { _, _ in true }
    lab.client.close(now: lab.now)
    lab.run(for: .milliseconds(2600))
    #expect(lab.end == .closed)
  }

  @Test func anIdleAllocationKeepsItsPortOpen() {
    var lab = TURNLab.allocated()
    lab.run(for: .seconds(3600))
    #expect((140...180).contains(lab.server.keepalives))
    // Not while there is other traffic.
    let before = lab.server.keepalives
    for _ in 0..<600 {
      lab.send([1])
      lab.run(for: .seconds(1))
    }
    #expect(lab.server.keepalives <= before + 1)
  }

  @Test func overAStreamNothingIsRepeatedAndEveryPieceIsUnderstood() {
    var lab = TURNLab.allocated(TURNLab.configuration(transport: .tcp))
    #expect(lab.relayed != nil && lab.sent.count == 2)
    lab.send([1, 2, 3])
    lab.run(for: .seconds(1))
    lab.send([4, 5, 6])
    lab.run(for: .seconds(1))
    // Padded to four bytes.
    #expect(lab.sent.last == [0x40, 0, 0, 3, 4, 5, 6, 0])
    #expect(lab.server.delivered.map(\.payload) == [[1, 2, 3], [4, 5, 6]] && lab.server.keepalives == 0)
    let stream =
      FakeTURNServer.channelData([7, 7, 7], on: 0x4000) + FakeTURNServer.indication([8], from: TURNLab.peer)
      + FakeTURNServer.channelData([], on: 0x4000) + FakeTURNServer.channelData([9, 9, 9, 9], on: 0x4000)
    for size in 1...stream.count {
      for start in stride(from: 0, to: stream.count, by: size) {
        lab.inject(Array(stream[start..<min(stream.count, start + size)]))
      }
    }
    let expected: [[UInt8]] = [[7, 7, 7], [8], [], [9, 9, 9, 9]]
    #expect(lab.received.map(\.payload) == Array(repeating: expected, count: stream.count).flatMap { $0 })
    lab.client.transportLost("reset")
    lab.run(for: .zero)
    #expect(lab.end == .transportLost("reset"))
  }
}
