import STUN
import TURN
import TestSupport
import Testing
import Wire

@Suite struct TURNCredentialsTests {
  let hashes = TestHashes()
  /// 2024-07-03 09:20:00 UTC, at 100 s of the monotonic clock.
  let clock = WallClockReference(instant: .zero + .seconds(100), unixNanoseconds: 1_720_000_000_000_000_000)

  @Test func descriptionsLeaveThePasswordOut() {
    let credentials = TURNCredentials(username: "alice", password: "open sesame")
    var dumped = ""
    dump(credentials, to: &dumped)
    dump(
      TURNClientConfiguration(server: TURNServer(address: TURNLab.peer, transport: .udp), credentials: credentials),
      to: &dumped)
    for text in ["\(credentials)", String(reflecting: credentials), dumped] {
      #expect(text.contains("alice") && !text.contains("sesame"))
    }
  }

  /// Values computed with `openssl dgst -sha1 -hmac "logen" -binary | base64`.
  @Test func credentialsThatExpireAreThoseOfTheDraft() {
    let made = TURNCredentials(
      sharedSecret: Array("logen".utf8), name: "nursery", lifetime: .seconds(3600), clock: clock,
      now: .zero + .seconds(160), hashes: hashes)
    #expect(made.username == "1720003660:nursery")
    #expect(made.password == "iArSRWwlktYX820UgLhOYeFp/2k=")
    #expect(made.expiresAt == .zero + .seconds(3760))
    #expect(TURNCredentials.expiry(of: made.username, clock: clock) == made.expiresAt)
  }

  @Test(arguments: ["alice", "", "123:alice", "12345678901:a", "17200o0000:a", "-172000000:a"])
  func otherNamesDoNotExpire(name: String) {
    #expect(TURNCredentials.expiry(of: name, clock: clock) == nil)
  }

  @Test func halfOfTheirTimeIsToldOnce() {
    var credentials = TURNLab.credentials
    credentials.expiresAt = .zero + .seconds(7200)
    var lab = TURNLab.allocated(TURNLab.configuration(credentials: credentials))
    lab.run(for: .seconds(7000))
    #expect(lab.renewals == [.zero + .seconds(3600)] && lab.end == nil)
  }

  @Test func credentialsThatAreOverAreNotTried() {
    var credentials = TURNLab.credentials
    credentials.expiresAt = .zero
    let lab = TURNLab.allocated(TURNLab.configuration(credentials: credentials))
    #expect(lab.end == .credentialsExpired && lab.sent.isEmpty)
  }

  /// Two allocations side by side: everything that was sent arrives over one of them.
  @Test func nothingIsLostWhenOneAllocationTakesTheOthersPlace() {
    var credentials = TURNLab.credentials
    credentials.expiresAt = .zero + .seconds(600)
    var old = TURNLab.allocated(TURNLab.configuration(credentials: credentials))
    old.send([0])
    old.run(for: .seconds(299))
    #expect(old.renewals.count == 1)
    var new = TURNLab(TURNLab.configuration(credentials: TURNLab.credentials), seed: 2)
    new.run(for: old.now - new.now)
    for peer in old.client.peersInUse { new.client.permit(peer, now: new.now) }
    new.client.allocate(now: new.now)
    var sent = 0
    for tick in 0..<100 {
      if tick < 50 { old.send([UInt8(tick)]) } else { new.send([UInt8(tick)]) }
      sent += 1
      old.run(for: .milliseconds(20))
      new.run(for: .milliseconds(20))
      // The peer answers to where it was last heard from.
      if tick < 50 { old.peerSends([1]) } else { new.peerSends([1]) }
    }
    old.client.close(now: old.now)
    old.run(for: .seconds(1))
    new.run(for: .seconds(1))
    #expect(old.server.delivered.count - 1 + new.server.delivered.count == sent)
    #expect(old.received.count + new.received.count == sent)
    #expect(old.end == .closed && new.end == nil)
  }

  /// Name, realm, nonce and password of RFC 5769 section 2.4: its key authenticates our request.
  @Test func namesBeyondASCIIAreHashedAsTheRFCDoes() throws {
    let name = "\u{30DE}\u{30C8}\u{30EA}\u{30C3}\u{30AF}\u{30B9}"
    var lab = TURNLab(
      TURNLab.configuration(credentials: TURNCredentials(username: name, password: "TheMatrIX")))
    lab.server.users = [name: "TheMatrIX"]
    lab.client.allocate(now: lab.now)
    lab.run(for: .seconds(1))
    #expect(lab.relayed != nil)
    let vector = try STUNMessage(decoding: Fixture.bytes("stun-rfc5769-request-long-term.bin"))
    let key = stunLongTermKey(username: name, realm: "example.org", password: "TheMatrIX", hashes: hashes)
    let request = try STUNMessage(decoding: try #require(lab.sent.last))
    #expect(vector.username == request.username && vector.realm == request.realm)
    #expect(vector.verifyIntegrity(key: key, hashes: hashes) && request.verifyIntegrity(key: key, hashes: hashes))
  }
}
