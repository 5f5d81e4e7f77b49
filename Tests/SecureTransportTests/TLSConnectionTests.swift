import COpenSSL
import FoundationEssentials
import TestSupport
import Testing
import Wire

@testable import SecureTransport

@Suite struct TLSConnectionTests {
  @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
  func bothSidesAgreeAndTalk(version: Int32) throws {
    let pair = try TLSPair(client: TLSContext.trusting().only(version))
    pair.connect()
    #expect(pair.client.isEstablished && pair.server.isEstablished)
    #expect(pair.client.applicationProtocol == "http/1.1" && pair.server.applicationProtocol == "http/1.1")
    pair.client.connection.send([1, 2, 3])
    pair.run()
    pair.server.connection.send([4])
    pair.run()
    #expect(pair.server.plaintext == [1, 2, 3] && pair.client.plaintext == [4])
    #expect(pair.client.failure == nil && pair.server.failure == nil)
  }

  /// However little arrives at once, and never more events than bytes make.
  @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
  func bytesMayComeOneByOne(version: Int32) throws {
    let pair = try TLSPair(client: TLSContext.trusting().only(version))
    pair.pieceSize = 1
    pair.connect()
    let message = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    pair.server.connection.send(message)
    pair.run()
    #expect(pair.client.plaintext == message)
    // Two records, 16384 bytes the first.
    #expect(pair.client.pieces == 2)
  }

  @Test func largeTransfersArriveWholeInFewPieces() throws {
    let pair = try TLSPair()
    pair.connect()
    let message = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    pair.client.connection.send(message)
    pair.server.connection.send(message.reversed())
    pair.run()
    #expect(pair.server.plaintext == message && pair.client.plaintext == message.reversed())
    #expect(pair.server.pieces == 1 && pair.client.pieces == 1)
  }

  @Test func nothingIsSentBeforeTheHandshakeIsComplete() throws {
    let pair = try TLSPair()
    pair.client.connection.send([1])
    pair.start()
    pair.client.connection.send([2])
    pair.server.connection.send([3])
    pair.run()
    #expect(pair.server.isEstablished && pair.server.plaintext.isEmpty && pair.client.plaintext.isEmpty)
  }

  /// No tickets: after its Finished a server is silent until it has something to say.
  @Test func nothingOutlivesAConnection() throws {
    let pair = try TLSPair()
    pair.start()
    pair.deliver(pair.client.connection.takeCiphertext(), to: &pair.server)
    pair.deliver(pair.server.connection.takeCiphertext(), to: &pair.client)
    #expect(pair.client.isEstablished && !pair.server.isEstablished)
    pair.deliver(pair.client.connection.takeCiphertext(), to: &pair.server)
    #expect(pair.server.isEstablished && pair.server.connection.takeCiphertext().isEmpty)
  }

  @Test func aNameIsSentAndAnAddressIsNot() throws {
    let named = try TLSPair(name: .name("nursery.local"))
    named.connect()
    #expect(named.client.sent.firstRange(of: Array("nursery.local".utf8)) != nil)
    // RFC 6066 section 3: the extension's number is 0, its list begins with name_type 0.
    let address = try TLSPair(name: .address(.v4(0x7f00_0001)))
    address.connect()
    #expect(address.client.isEstablished)
    #expect(address.client.sent.firstRange(of: Array("127.0.0.1".utf8)) == nil)
    for name in ["", "a\0b", String(repeating: "a", count: 300)] {
      #expect(throws: SecureError.invalidName(name)) {
        try TLSConnection(client: .trusting(), of: .name(name))
      }
    }
  }

  @Test func aClientThatOnlySpeaksAnotherProtocolGoesOnWithout() throws {
    let client = try TLSContext.trusting()
    #expect(SSL_CTX_set_alpn_protos(client.pointer, [2, 104, 50], 3) == 0)
    let pair = try TLSPair(client: client)
    pair.connect()
    #expect(pair.client.isEstablished && pair.server.isEstablished)
    #expect(pair.client.applicationProtocol == nil && pair.server.applicationProtocol == nil)
  }

  // MARK: - The end

  @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
  func aGoodbyeIsAnswered(version: Int32) throws {
    let pair = try TLSPair(client: TLSContext.trusting().only(version))
    pair.connect()
    pair.client.connection.send([1])
    pair.client.connection.close()
    #expect(!pair.client.isClosed)
    pair.run()
    #expect(pair.server.plaintext == [1] && pair.server.isClosed && pair.client.isClosed)
    pair.server.connection.receiveEnd()
    pair.server.connection.send([2])
    pair.client.connection.receiveEnd()
    pair.run()
    #expect(pair.client.plaintext.isEmpty && pair.client.failure == nil && pair.server.failure == nil)
  }

  @Test func bothMaySayGoodbyeAtOnce() throws {
    let pair = try TLSPair()
    pair.connect()
    pair.server.connection.send([1])
    for side in [pair.client, pair.server] { side.connection.close() }
    pair.run()
    #expect(pair.client.isClosed && pair.server.isClosed)
    // Nothing is delivered to who has left.
    #expect(pair.client.plaintext.isEmpty)
  }

  @Test func anEndWithoutAGoodbyeIsToldApart() throws {
    let pair = try TLSPair()
    pair.connect()
    pair.server.connection.send([1])
    pair.run()
    pair.client.connection.receiveEnd()
    TLSPair.collect(&pair.client)
    #expect(pair.client.failure == .truncated && pair.client.plaintext == [1] && !pair.client.isClosed)
    // Who has said goodbye needs no answer.
    pair.server.connection.close()
    pair.server.connection.receiveEnd()
    TLSPair.collect(&pair.server)
    #expect(pair.server.failure == nil && pair.server.isClosed)
  }

  @Test func anEndDuringTheHandshakeIsAFailure() throws {
    let pair = try TLSPair()
    pair.start()
    let hello = pair.client.connection.takeCiphertext()
    pair.deliver(Array(hello.prefix(hello.count / 2)), to: &pair.server)
    for side in [pair.client, pair.server] { side.connection.receiveEnd() }
    TLSPair.collect(&pair.client)
    TLSPair.collect(&pair.server)
    #expect(pair.client.failure == .endedDuringHandshake && pair.server.failure == .endedDuringHandshake)
    let other = try TLSPair()
    other.start()
    other.client.connection.close()
    other.client.connection.receiveEnd()
    TLSPair.collect(&other.client)
    #expect(other.client.failure == nil && !other.client.isClosed)
  }

  @Test func aLateByteOfACutConnectionIsNotDelivered() throws {
    let pair = try TLSPair()
    pair.connect()
    pair.client.connection.send([1, 2, 3])
    var record = pair.client.connection.takeCiphertext()
    record[record.count - 1] ^= 1
    pair.deliver(record, to: &pair.server)
    guard case .failed(let reason)? = pair.server.failure else {
      Issue.record("\(String(describing: pair.server.failure))")
      return
    }
    #expect(reason.contains("bad record mac") && pair.server.plaintext.isEmpty)
    // The alert says why.
    pair.run()
    #expect(pair.client.failure != nil)
  }
}

@Suite struct TLSTrustTests {
  @Test func anUnexpectedCertificateIsRefusedBeforeAnythingIsSaid() throws {
    let certificate = try Certificate(key: TLSContext.identity)
    let server = try TLSContext(key: TLSContext.identity, certificate: certificate)
    for version in [TLS1_2_VERSION, TLS1_3_VERSION] {
      let client = try TLSContext(trust: .judged { $0.sha256 == [] }).only(version)
      let pair = try TLSPair(client: client, server: server)
      pair.start()
      pair.run()
      guard case .certificateRefused(certificate.sha256, _)? = pair.client.failure else {
        Issue.record("\(String(describing: pair.client.failure))")
        continue
      }
      #expect(!pair.client.isEstablished && !pair.server.isEstablished)
      #expect(pair.server.failure != nil)
    }
  }

  @Test func theJudgeSeesCertificateAndKey() throws {
    let certificate = try Certificate(key: TLSContext.identity)
    let key = CryptoHashes().sha256(TLSContext.identity.publicKeySPKI)
    let expected = TLSCertificate(sha256: certificate.sha256, keySHA256: key)
    let pair = try TLSPair(
      client: TLSContext(trust: .judged { $0 == expected }),
      server: TLSContext(key: TLSContext.identity, certificate: certificate))
    pair.connect()
    #expect(pair.client.isEstablished)
  }

  private func failure(
    _ server: TLSContext, _ name: TLSConnection.ServerName, by client: TLSContext
  ) throws -> TLSFailure? {
    let pair = try TLSPair(client: client, server: server, name: name)
    pair.connect()
    #expect(pair.client.isEstablished == (pair.client.failure == nil))
    return pair.client.failure
  }

  private func reason(_ failure: TLSFailure?) -> String {
    if case .certificateRefused(let sha256, let reason)? = failure, sha256.count == 32 { reason } else { "" }
  }

  @Test func anAuthorityVouchesForNamesAndAddresses() throws {
    let authority = try TestAuthority()
    let client = try authority.client()
    let home = TLSConnection.ServerName.name("nursery.example")
    let here = TLSConnection.ServerName.address(.v4(0x7f00_0001))
    let named = try authority.server("DNS:nursery.example,DNS:*.wild.example")
    #expect(try failure(named, home, by: client) == nil)
    #expect(try failure(named, .name("a.wild.example"), by: client) == nil)
    #expect(try reason(failure(named, .name("a.b.wild.example"), by: client)).contains("ostname mismatch"))
    #expect(try reason(failure(named, .name("kitchen.example"), by: client)).contains("ostname mismatch"))
    #expect(try reason(failure(named, here, by: client)).contains("IP address mismatch"))
    let addressed = try authority.server("IP:127.0.0.1,IP:fd00::1")
    #expect(try failure(addressed, here, by: client) == nil)
    #expect(try failure(addressed, .address(.v6(0xfd00 << 48, 1)), by: client) == nil)
    #expect(try reason(failure(addressed, .address(.v4(0x7f00_0002)), by: client)).contains("IP address mismatch"))
    #expect(try reason(failure(addressed, home, by: client)).contains("ostname mismatch"))
  }

  @Test func expiredUnknownAndSelfSignedCertificatesAreRefusedWithTheReason() throws {
    let authority = try TestAuthority()
    let client = try authority.client()
    let home = TLSConnection.ServerName.name("nursery.example")
    let expired = try authority.server("DNS:nursery.example", end: -60)
    #expect(try reason(failure(expired, home, by: client)) == "certificate has expired")
    let stranger = try TestAuthority().server("DNS:nursery.example")
    #expect(try !reason(failure(stranger, home, by: client)).isEmpty)
    #expect(try reason(failure(.shared(), .name("localhost"), by: client)).contains("self"))
    // The machine's own authorities do not know ours.
    let machine = try TLSContext(trust: .system)
    #expect(try !reason(failure(authority.server("DNS:nursery.example"), home, by: machine)).isEmpty)
  }

  // MARK: - Files

  private func refusal(_ certificate: String, _ key: String) -> String {
    do {
      _ = try TLSContext(certificateFile: certificate, keyFile: key)
      return "none"
    } catch {
      return "\(error)"
    }
  }

  @Test func filesThatCannotBeUsedAreNamedWithTheReason() throws {
    let authority = try TestAuthority()
    let key = PrivateKey.generate()
    let certificate = try authority.issue("own", extensions: [], key: key)
    let good = try authority.write("own-key", key.pem)
    let folder = authority.folder
    #expect(refusal(certificate, good) == "none")
    #expect(refusal("\(folder)/none", good) == "\(folder)/none: No such file or directory")
    #expect(refusal(certificate, "\(folder)/none") == "\(folder)/none: No such file or directory")
    let text = try authority.write("text", "hello\n")
    #expect(refusal(text, good).hasPrefix("\(text): no usable certificates in PEM: "))
    #expect(refusal(certificate, text).hasPrefix("\(text): no usable key in PEM: "))
    let pem = try String(contentsOfFile: certificate, encoding: .utf8)
    let longest = try authority.write("longest", String(repeating: pem, count: 10))
    #expect(refusal(longest, good) == "none")
    let longer = try authority.write("longer", String(repeating: pem, count: 11))
    #expect(refusal(longer, good).hasPrefix("\(longer): it has 11 certificates; "))
    let foreign = "this key does not belong to the certificate in \(certificate)"
    let other = try authority.write("other-key", PrivateKey.generate().pem)
    #expect(refusal(certificate, other) == "\(other): \(foreign)")
    let rsa = try authority.write("rsa-key", Self.rsaKey(bits: 2048))
    #expect(refusal(certificate, rsa) == "\(rsa): \(foreign)")
    #expect(throws: SecureError.self) {
      try TLSContext(key: PrivateKey.generate(), certificate: Certificate(key: key))
    }
  }

  @Test func anEncryptedKeyIsRefusedWithoutAsking() throws {
    let authority = try TestAuthority()
    let key = PrivateKey.generate()
    let certificate = try authority.issue("own", extensions: [], key: key)
    let buffer = MemoryBIO()
    let phrase = Array("secret".utf8CString)
    let written = phrase.withUnsafeBufferPointer { phrase in
      key.withPointer {
        PEM_write_bio_PKCS8PrivateKey(buffer.pointer, $0, EVP_aes_256_cbc(), phrase.baseAddress, 6, nil, nil)
      }
    }
    try #require(written == 1)
    let file = try authority.write("own-key", buffer.text)
    #expect(refusal(certificate, file).hasPrefix("\(file): no usable key in PEM: "))
  }

  private static func rsaKey(bits: Int) -> String {
    let buffer = MemoryBIO()
    let context = EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, nil)
    var key: OpaquePointer?
    let made =
      EVP_PKEY_keygen_init(context) == 1 && EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bits)) == 1
      && EVP_PKEY_keygen(context, &key) == 1
    precondition(made && PEM_write_bio_PKCS8PrivateKey(buffer.pointer, key, nil, nil, 0, nil, nil) == 1)
    EVP_PKEY_free(key)
    EVP_PKEY_CTX_free(context)
    return buffer.text
  }
}
