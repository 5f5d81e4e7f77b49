import Glibc
import PeerConnection
import TestSupport
import Testing
import Wire

@testable import SecureTransport

@Suite struct DTLSLossTests {
  /// Every datagram of the undisturbed handshake is lost once.
  @Test(arguments: [true, false], 0...2)
  func oneLostDatagramIsRepeated(fromClient: Bool, index: Int) throws {
    let pair = try DTLSPair()
    pair.fate = { client, number, _ in client == fromClient && number == index ? [] : [.milliseconds(5)] }
    pair.connect()
    #expect(pair.client.keys != nil)
    #expect(pair.server.keys != nil)
    #expect(pair.now - .zero < .seconds(2))
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func handshakeSurvivesLossReorderingAndDuplicates(seed: UInt64) throws {
    let pair = try DTLSPair()
    var random = SeededGenerator(seed: seed)
    pair.fate = { _, _, _ in
      (0..<[0, 1, 1, 1, 2].randomElement(using: &random)!).map { _ in
        .milliseconds(Int.random(in: 1...80, using: &random))
      }
    }
    pair.connect()
    #expect(pair.client.keys != nil)
    #expect(pair.server.keys != nil)
    #expect(pair.client.keys?.local == pair.server.keys?.remote)
    #expect((pair.client.sent + pair.server.sent).allSatisfy { $0.count <= DTLSConnection.mtu })
  }

  @Test func repetitionsSlowDownAndEndInFailure() throws {
    let pair = try DTLSPair()
    var times: [Instant] = []
    pair.fate = { [unowned pair] fromClient, _, _ in
      if fromClient { times.append(pair.now) }
      return []
    }
    pair.connect()
    #expect(pair.client.failure != nil)
    #expect(pair.client.connection.nextDeadline == nil)
    #expect(pair.now == .zero + .seconds(30))
    let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
    #expect(gaps.prefix(4) == [.milliseconds(50), .milliseconds(100), .milliseconds(200), .milliseconds(400)])
    #expect(gaps.allSatisfy { $0 <= .seconds(5) })
    #expect(times.count <= 13)
  }

  @Test func inRealTimeTheFirstFlightIsRepeatedToo() throws {
    let client = try OpenSSLTransports.test(timer: WallClockTimer()).makeDTLS()
    let clock = ContinuousClock()
    let begin = clock.now
    var now: Instant { .zero + (clock.now - begin) }
    client.start(role: .client, now: now)
    guard case .transmit? = client.poll(), client.poll() == nil else {
      Issue.record("one ClientHello")
      return
    }
    var repeatedAfter: Duration?
    while repeatedAfter == nil, now < .zero + .seconds(3) {
      let deadline = try #require(client.nextDeadline)
      usleep(UInt32(clamping: max(0, (deadline - now).nanoseconds / 1000)))
      client.handleTimeout(now: now)
      if case .transmit? = client.poll() { repeatedAfter = now - .zero }
    }
    #expect(try #require(repeatedAfter) >= .milliseconds(50))
  }

  @Test func serverWaitsForTheFirstDatagramWithoutATimer() throws {
    let pair = try DTLSPair()
    pair.server.connection.start(role: .server, now: .zero)
    #expect(pair.server.connection.nextDeadline == nil)
    pair.server.connection.handleTimeout(now: .zero + .seconds(3600))
    pair.now = .zero + .seconds(3600)
    pair.client.connection.start(role: .client, now: pair.now)
    pair.run()
    #expect(pair.server.keys != nil)
  }

  @Test func replayedRecordsAreDeliveredOnce() throws {
    let pair = try DTLSPair()
    pair.connect()
    pair.fate = { _, _, _ in [.milliseconds(1), .milliseconds(2), .milliseconds(900)] }
    for number in 0..<20 { pair.client.connection.send([UInt8(number)]) }
    pair.run()
    #expect(pair.server.messages == (0..<20).map { [$0] })
  }

  @Test func tamperedTruncatedAndForeignRecordsAreIgnoredOnceConnected() throws {
    let pair = try DTLSPair()
    pair.connect()
    pair.client.connection.send([7])
    var random = SeededGenerator(seed: 3)
    pair.fate = { _, _, _ in [] }
    pair.run(for: .zero)
    let genuine = try #require(pair.client.sent.last)
    for position in genuine.indices where position != 0 {
      var changed = genuine
      changed[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      pair.server.connection.handle(datagram: changed, now: pair.now)
      pair.server.connection.handle(datagram: Array(genuine.prefix(position)), now: pair.now)
    }
    for _ in 0..<200 {
      let garbage = (0..<Int.random(in: 1...1500, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
      }
      pair.server.connection.handle(datagram: [23] + garbage, now: pair.now)
    }
    pair.run(for: .zero)
    #expect(pair.server.messages.isEmpty)
    #expect(pair.server.failure == nil)
    pair.server.connection.handle(datagram: genuine, now: pair.now)
    pair.run(for: .zero)
    #expect(pair.server.messages == [[7]])
  }

  @Test func garbageBetweenHandshakeDatagramsIsTolerated() throws {
    let pair = try DTLSPair()
    var random = SeededGenerator(seed: 9)
    pair.start()
    for _ in 0..<50 {
      let garbage = (0..<Int.random(in: 1...200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      // A version that DTLS never had, so that no record of it can count.
      pair.server.connection.handle(datagram: [22, 3, 3] + garbage, now: pair.now)
      pair.client.connection.handle(datagram: [22, 1, 1] + garbage, now: pair.now)
    }
    pair.run()
    #expect(pair.client.keys != nil)
    #expect(pair.server.keys != nil)
  }
}
