import STUN
import TURN
import TestSupport
import Testing
import Wire

/// Answers that are wrong, servers that mean ill, and strangers.
@Suite struct TURNHostilityTests {
  /// The right answers come later, to the same requests.
  @Test func wrongAnswersChangeNothing() {
    let wrongs: [(inout FakeTURNServer) -> Void] = [
      { $0.falseKey = [1, 2, 3] },
      {
        $0.tamper = { message in
          var other = message
          other.transactionID = STUNTransactionID(bytes: Array(repeating: 7, count: 12))!
          return other
        }
      },
      {
        $0.tamper = { message in
          var other = message
          other.method = .binding
          return other
        }
      },
    ]
    for wrong in wrongs {
      var lab = TURNLab()
      lab.client.allocate(now: lab.now)
      // Past the first challenge, which cannot be authenticated.
      lab.run(for: .milliseconds(25))
      wrong(&lab.server)
      lab.run(for: .seconds(1))
      #expect(lab.relayed == nil && lab.end == nil)
      lab.server.falseKey = nil
      lab.server.tamper = { $0 }
      lab.server.forget()
      lab.run(for: .seconds(10))
      #expect(lab.relayed == lab.server.relayed && lab.end == nil)
    }
  }

  @Test func aSuccessWithoutIntegrityIsNone() throws {
    var lab = TURNLab()
    lab.client.allocate(now: lab.now)
    lab.isLost = { _, now in now > .zero + .milliseconds(15) }
    lab.run(for: .milliseconds(30))
    let request = try STUNMessage(decoding: try #require(lab.sent.last))
    #expect(request.username == "alice")
    let forged = STUNMessage(
      .successResponse, .allocate, transactionID: request.transactionID,
      attributes: [.xorRelayedAddress(TURNLab.peer), .xorMappedAddress(TURNLab.peer), .lifetime(600)])
    lab.inject(forged.encode(fingerprint: false, hashes: TestHashes()))
    #expect(lab.relayed == nil)
  }

  /// Another realm would have our name and an HMAC over another key.
  @Test func anotherRealmIsNotFollowed() {
    var lab = TURNLab()
    lab.server.nonceLifetime = .seconds(60)
    lab.client.allocate(now: lab.now)
    lab.run(for: .seconds(290))
    lab.server.tamper = { message in
      var other = message
      other.attributes = message.attributes.map { if case .realm = $0 { .realm("elsewhere") } else { $0 } }
      return other
    }
    let sent = lab.sent.count
    lab.run(for: .seconds(60))
    let requests = lab.sent[sent...].compactMap { try? STUNMessage(decoding: $0) }.filter { $0.method == .refresh }
    // The same nonce again and again, in spite of the one that was offered.
    #expect(requests.count > 7 && Set(requests.map(\.nonce)).count == 1 && lab.end == nil)
    #expect(requests.allSatisfy { $0.realm == lab.server.realm })
    lab.server.tamper = { $0 }
    lab.run(for: .seconds(300))
    #expect(lab.end == nil && lab.server.isAllocated(at: lab.now))
  }

  @Test func noncesWithoutEndAreGivenUp() {
    var lab = TURNLab()
    lab.server.nonceLifetime = .zero
    lab.client.allocate(now: lab.now)
    lab.run(for: .seconds(60))
    guard case .serverMisbehaved? = lab.end else {
      Issue.record("\(String(describing: lab.end))")
      return
    }
    #expect(lab.server.requests[.allocate, default: 0] < 20)
  }

  /// Anybody on the same Wi-Fi can see a request and answer first.
  @Test func aForgedRefusalDoesNotEndAnAllocation() throws {
    for code in [437, 401, 400, 300] {
      var lab = TURNLab.allocated()
      lab.isLost = { bytes, _ in bytes[0] >> 6 == 0 }
      lab.run(for: .seconds(300))
      let request = try STUNMessage(decoding: try #require(lab.sent.last))
      #expect(request.method == .refresh)
      var forged = request.errorResponse(code: code, reason: "")
      if code == 300 { forged.attributes.append(.alternateServer(TURNLab.peer)) }
      lab.inject(forged.encode(fingerprint: false, hashes: TestHashes()))
      lab.isLost = { _, _ in false }
      lab.run(for: .seconds(300))
      #expect(lab.end == nil && lab.server.isAllocated(at: lab.now))
    }
  }

  @Test func aRefusalWithoutIntegrityCountsWhenNothingElseComes() {
    var lab = TURNLab.allocated()
    lab.server.signsErrors = false
    lab.server.refusals[.refresh] = 437
    lab.server.refusals[.channelBind] = 403
    lab.send([1])
    lab.run(for: .seconds(19))
    #expect(lab.refused.isEmpty)
    lab.run(for: .seconds(1))
    #expect(lab.refused.map(\.code) == [403])
    lab.run(for: .seconds(300))
    #expect(lab.end == .mismatch)
  }

  @Test func redirectionsAreToldAndEndSomewhere() {
    let other = TransportAddress(ip: .v4(0xc000_0299), port: 3478)
    var lab = TURNLab()
    lab.server.alternate = other
    lab.client.allocate(now: lab.now)
    lab.run(for: .seconds(1))
    #expect(lab.end == .redirected(to: other) && lab.end?.remedy == .elsewhere(other))
    // Of another family, it is none.
    lab = TURNLab()
    lab.server.alternate = TransportAddress(ip: .v6(1, 2), port: 3478)
    lab.client.allocate(now: lab.now)
    lab.run(for: .seconds(30))
    #expect(lab.end == .timedOut)
    var redirections = TURNRedirections(first: FakeTURNServer.address)
    let steps = (1...9).map { TransportAddress(ip: .v4(0xc000_0200), port: UInt16($0)) }
    let followed = steps.map { redirections.follow(to: $0) }
    #expect(followed == [true, true, true, true] + Array(repeating: false, count: 5))
    redirections = TURNRedirections(first: FakeTURNServer.address)
    let again = [FakeTURNServer.address, other, other].map { redirections.follow(to: $0) }
    #expect(again == [false, true, false])
  }

  @Test(arguments: [UInt32(0), 1, 19])
  func anAllocationWithoutTimeIsAnError(seconds: UInt32) {
    var lab = TURNLab()
    lab.server.lifetime = .seconds(Int64(seconds))
    lab.client.allocate(now: lab.now)
    lab.run(for: .seconds(1))
    guard case .serverMisbehaved? = lab.end else {
      Issue.record("\(String(describing: lab.end))")
      return
    }
    #expect(lab.client.nextDeadline == nil)
  }

  @Test(arguments: [
    STUNAttribute.xorRelayedAddress(TransportAddress(ip: .v6(0x2001_0db8 << 32, 1), port: 9)),
    .xorRelayedAddress(TransportAddress(ip: .v4(0), port: 9)),
    .xorRelayedAddress(TransportAddress(ip: .v4(0xc000_0201), port: 0)), .priority(1),
  ])
  func aRelayedAddressThatIsNoneIsAnError(attribute: STUNAttribute) {
    var lab = TURNLab()
    lab.server.tamper = { message in
      var other = message
      other.attributes = message.attributes.map { if case .xorRelayedAddress = $0 { attribute } else { $0 } }
      return other
    }
    lab.client.allocate(now: lab.now)
    lab.run(for: .seconds(1))
    guard case .serverMisbehaved? = lab.end else {
      Issue.record("\(String(describing: lab.end))")
      return
    }
    #expect(lab.relayed == nil)
  }

  @Test func anEndlessLifetimeIsRefreshedAllTheSame() {
    var lab = TURNLab()
    lab.server.lifetime = .seconds(Int64(UInt32.max))
    lab.client.allocate(now: lab.now)
    lab.run(for: .seconds(3600))
    #expect(lab.end == nil && lab.server.requests[.refresh] == 1)
  }

  @Test func strangersAreNotHeard() {
    var lab = TURNLab.allocated()
    let stranger = TransportAddress(ip: .v4(0x0808_0808), port: 1)
    lab.send([1])
    lab.run(for: .seconds(1))
    for payload in 0..<10 {
      lab.inject(FakeTURNServer.indication([UInt8(payload)], from: stranger))
      lab.inject(FakeTURNServer.channelData([UInt8(payload)], on: 0x4001))
      lab.inject(FakeTURNServer.channelData([UInt8(payload)], on: 0x7fff))
    }
    #expect(lab.received.isEmpty && lab.client.droppedCount == 30)
    lab.inject(FakeTURNServer.channelData([9], on: 0x4000))
    #expect(lab.received.map(\.payload) == [[9]])
  }

  @Test func garbageOverUDPIsDropped() {
    var lab = TURNLab.allocated()
    var random = SeededGenerator(seed: 3)
    for _ in 0..<5000 {
      lab.inject((0..<Int.random(in: 0...80, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
    }
    #expect(lab.end == nil && lab.received.isEmpty)
    // Shorter than it says.
    lab.inject([0x40, 0, 0, 9, 1])
    lab.send([1])
    lab.run(for: .seconds(1))
    #expect(lab.server.delivered.map(\.payload) == [[1]])
  }

  @Test func aStreamThatIsNoneEndsTheAllocation() {
    for bytes: [UInt8] in [
      [0x80, 0, 0, 0], [0xff, 1, 2, 3], [0, 1, 0, 3], Array("HTTP/1.1 400 Bad Request\r\n".utf8),
    ] {
      var lab = TURNLab.allocated(TURNLab.configuration(transport: .tls))
      lab.inject(bytes)
      if bytes[0] == 0x48 {
        // "HT" could be a channel's number: its length is waited for, up to 64 KiB.
        #expect(lab.end == nil)
        lab.inject(Array(repeating: 0xff, count: 70_000))
      }
      guard case .serverMisbehaved? = lab.end else {
        Issue.record("\(bytes): \(String(describing: lab.end))")
        continue
      }
    }
  }

  /// One byte at a time, and never whole: nothing grows beyond a message.
  @Test func aStreamOfPiecesIsBounded() {
    var lab = TURNLab.allocated(TURNLab.configuration(transport: .tcp))
    lab.send([1])
    lab.run(for: .seconds(1))
    lab.inject([0x40, 0, 0xff, 0xff])
    for _ in 0..<65_535 { lab.inject([5]) }
    #expect(lab.received.isEmpty)
    lab.inject([0])
    #expect(lab.received.map(\.payload.count) == [65_535] && lab.end == nil)
  }

  @Test func afterItsEndNothingIsSaidOrDone() {
    var lab = TURNLab.allocated()
    lab.client.close(now: lab.now)
    lab.run(for: .seconds(1))
    let sent = lab.sent.count
    lab.send([1])
    lab.client.permit(TURNLab.peer, now: lab.now)
    lab.client.allocate(now: lab.now)
    lab.client.close(now: lab.now)
    lab.client.transportLost("")
    lab.inject(FakeTURNServer.channelData([9], on: 0x4000))
    lab.run(for: .seconds(1000))
    #expect(lab.sent.count == sent && lab.end == .closed && lab.received.isEmpty)
  }
}
