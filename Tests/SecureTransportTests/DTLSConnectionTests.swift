import COpenSSL
import PeerConnection
import TestSupport
import Testing
import Wire

@testable import SecureTransport

@Suite struct DTLSConnectionTests {
  @Test func handshakeGivesBothSidesTheSameKeysCrossed() throws {
    let pair = try DTLSPair()
    pair.connect()
    let client = try #require(pair.client.keys)
    let server = try #require(pair.server.keys)
    #expect(client.profile == .aeadAES128GCM)
    #expect(client.local.count == 28)
    #expect(client.local == server.remote)
    #expect(client.remote == server.local)
    #expect(client.local != client.remote)
    #expect(pair.client.connection.nextDeadline == nil)
    #expect(pair.server.connection.nextDeadline == nil)
  }

  @Test func eachSideSeesTheOthersCertificateDigest() throws {
    let pair = try DTLSPair()
    pair.connect()
    #expect(pair.client.peerSHA256 == pair.server.certificateSHA256)
    #expect(pair.server.peerSHA256 == pair.client.certificateSHA256)
    #expect(pair.client.certificateSHA256 != pair.server.certificateSHA256)
  }

  @Test func noHandshakeDatagramIsLargerThanTheMTU() throws {
    let pair = try DTLSPair()
    pair.connect()
    let sizes = (pair.client.sent + pair.server.sent).map(\.count)
    #expect(sizes.count >= 4)
    #expect(sizes.allSatisfy { $0 <= DTLSConnection.mtu })
    #expect((pair.client.sent + pair.server.sent).allSatisfy { (20...63).contains($0[0]) })
  }

  @Test func largeCertificatesAreCutToTheMTU() throws {
    let names = (0..<200).map { "a-rather-long-name-number-\($0).local" }
    let pair = try DTLSPair(client: .test(names: names), server: .test(names: names))
    pair.connect()
    #expect(pair.client.keys != nil)
    #expect(pair.server.peerSHA256 == pair.client.certificateSHA256)
    let sizes = (pair.client.sent + pair.server.sent).map(\.count)
    #expect(sizes.reduce(0, +) > 14_000)
    #expect(sizes.allSatisfy { $0 <= DTLSConnection.mtu })
  }

  @Test(arguments: [
    "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-ECDSA-AES256-GCM-SHA384",
  ])
  func eachCipherSuiteCarriesMessages(suite: String) throws {
    let pair = try DTLSPair(client: .test(cipherSuites: [suite]))
    pair.connect()
    pair.client.connection.send([1, 2, 3])
    pair.server.connection.send([4])
    pair.run()
    #expect(pair.server.messages == [[1, 2, 3]])
    #expect(pair.client.messages == [[4]])
  }

  @Test(arguments: [
    (DTLSContext.srtpProfiles[0], SRTPProfile.aeadAES128GCM),
    (DTLSContext.srtpProfiles[1], SRTPProfile.aes128CMHMACSHA1_80),
  ])
  func eachProfileIsAgreed(name: String, profile: SRTPProfile) throws {
    let pair = try DTLSPair(client: .test(srtpProfiles: [name]))
    pair.connect()
    #expect(pair.client.keys?.profile == profile)
    #expect(pair.server.keys?.profile == profile)
    #expect(pair.client.keys?.local.count == profile.keyLength + profile.saltLength)
    #expect(pair.client.keys?.local == pair.server.keys?.remote)
  }

  @Test func ourOrderOfProfilesDecides() throws {
    let pair = try DTLSPair(client: .test(srtpProfiles: DTLSContext.srtpProfiles.reversed()))
    pair.connect()
    #expect(pair.server.keys?.profile == .aeadAES128GCM)
  }

  @Test(arguments: [[String](), ["SRTP_AEAD_AES_256_GCM"]])
  func peerWithoutAProfileOfOursGetsNoKeys(profiles: [String]) throws {
    let pair = try DTLSPair(client: .test(srtpProfiles: profiles))
    pair.connect()
    #expect(pair.server.peerSHA256 != nil)
    #expect(pair.server.keys == nil)
  }

  @Test func dtls10IsRefusedByBothRoles() throws {
    let old = OpenSSLTransports.test(cipherSuites: ["ALL:@SECLEVEL=0"], version: DTLS1_VERSION)
    let asServer = try DTLSPair(client: old)
    asServer.connect()
    #expect(asServer.server.failure != nil)
    #expect(asServer.server.peerSHA256 == nil)
    let asClient = try DTLSPair(server: old)
    asClient.connect()
    #expect(asClient.client.failure != nil)
    #expect(asClient.client.peerSHA256 == nil)
  }

  @Test func clientWithoutACertificateIsRefused() throws {
    let pair = try DTLSPair(client: .test(presentsCertificate: false))
    pair.connect()
    #expect(pair.server.failure != nil)
    #expect(pair.server.peerSHA256 == nil)
    #expect(pair.client.failure != nil)
  }

  @Test func messagesKeepTheirBordersUpToTheLargest() throws {
    let pair = try DTLSPair()
    pair.connect()
    // The longest leaves room for the record header (13), and the explicit nonce (8) and tag (16) of AES-GCM.
    let messages = [1, 2, 500, DTLSConnection.mtu - 13 - 8 - 16].map { count in
      (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    }
    let before = pair.client.sent.count
    messages.forEach(pair.client.connection.send)
    pair.run()
    #expect(pair.server.messages == messages)
    #expect(pair.client.sent.count == before + messages.count)
    #expect(pair.client.sent.allSatisfy { $0.count <= DTLSConnection.mtu })
  }

  @Test func nothingIsSentBeforeTheHandshakeIsComplete() throws {
    let pair = try DTLSPair()
    pair.client.connection.send([1])
    pair.start()
    pair.client.connection.send([2])
    pair.run()
    #expect(pair.server.messages.isEmpty)
  }

  @Test func closeReachesTheOtherSide() throws {
    let pair = try DTLSPair()
    pair.connect()
    pair.client.connection.close()
    pair.run()
    #expect(pair.server.isClosed)
    pair.server.connection.send([1])
    pair.run()
    #expect(pair.client.messages.isEmpty)
  }

  @Test func repeatedTimeoutsAndStartsChangeNothing() throws {
    let pair = try DTLSPair()
    pair.start()
    let sent = pair.client.sent.count
    for _ in 0..<5 {
      pair.client.connection.handleTimeout(now: pair.now)
      pair.client.connection.start(role: .server, now: pair.now)
    }
    pair.run(for: .zero)
    #expect(pair.client.sent.count == sent)
    pair.run()
    #expect(pair.client.keys != nil)
    pair.client.connection.handleTimeout(now: .distantFuture)
    pair.run()
    #expect(pair.client.failure == nil)
  }
}
