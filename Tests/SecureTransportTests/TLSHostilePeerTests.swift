import COpenSSL
import TestSupport
import Testing

@testable import SecureTransport

/// What a peer may try. Nothing traps, and what it makes us keep or send is bounded.
@Suite struct TLSHostilePeerTests {
  private func server() throws -> TLSPair.Side {
    TLSPair.Side(connection: try TLSConnection(server: .shared()))
  }

  /// What becomes of a server that gets these bytes first.
  private func outcome(_ bytes: [UInt8]) throws -> TLSPair.Side {
    var side = try server()
    side.connection.start()
    side.connection.receive(bytes)
    TLSPair.collect(&side)
    side.sent = side.connection.takeCiphertext()
    return side
  }

  @Test func whatIsNotTLSIsNotAnswered() throws {
    for bytes in [Array("GET / HTTP/1.1\r\n\r\n".utf8), [0x80, 0x2e, 1, 3, 3], [22, 2, 0, 0, 5], [0]] as [[UInt8]] {
      let side = try outcome(bytes)
      #expect(side.failure == .notTLS && side.sent.isEmpty)
    }
    var client = TLSPair.Side(connection: try TLSConnection(client: .trusting(), of: .name("localhost")))
    client.connection.start()
    client.connection.receive(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
    TLSPair.collect(&client)
    #expect(client.failure == .notTLS)
  }

  @Test func impossibleRecordsAndMessagesAreRefused() throws {
    // A record over the limit; a hello of 16 MB; no hello at all; an alert for a greeting.
    let inputs: [[UInt8]] = [
      [22, 3, 1, 0xff, 0xff] + [UInt8](repeating: 0, count: 70_000), [22, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff],
      [22, 3, 1, 0, 4, 2, 0, 0, 0], [21, 3, 1, 0, 2, 2, 40],
    ]
    for bytes in inputs {
      let side = try outcome(bytes)
      guard case .failed(let reason)? = side.failure else {
        Issue.record("\(bytes.prefix(9)): \(String(describing: side.failure))")
        continue
      }
      #expect(!reason.isEmpty && side.sent.count < 100)
    }
  }

  @Test func randomBytesEndAHandshakeOrAreAwaited() throws {
    var random = SeededGenerator(seed: 5)
    let pair = try TLSPair()
    pair.start()
    let hello = pair.client.connection.takeCiphertext()
    for _ in 0..<300 {
      var bytes = hello
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        bytes[Int.random(in: 2..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
      }
      let side = try outcome(bytes)
      #expect(!side.isEstablished && side.plaintext.isEmpty)
    }
  }

  /// A request for new keys is answered at once, whether or not the answers are read.
  @Test func floodsOfNewKeysAreEnded() throws {
    var side = try server()
    let client = try RawClient(version: TLS1_3_VERSION)
    try #require(client.connect(to: &side))
    var answered = 0
    for number in 1...StreamBIO.maximumLateMessages {
      #expect(SSL_key_update(client.ssl, SSL_KEY_UPDATE_REQUESTED) == 1)
      #expect(SSL_write(client.ssl, [UInt8(truncatingIfNeeded: number)], 1) == 1)
      side.connection.receive(client.takeOutput())
      answered += side.connection.takeCiphertext().count
    }
    TLSPair.collect(&side)
    // As many as mean well are followed, with what comes in between.
    #expect(side.failure == nil && side.plaintext.count == StreamBIO.maximumLateMessages)
    #expect(answered > 0 && answered < StreamBIO.maximumLateMessages * 100)
    for _ in 0..<10_000 {
      #expect(SSL_key_update(client.ssl, SSL_KEY_UPDATE_REQUESTED) == 1)
      _ = SSL_do_handshake(client.ssl)
    }
    // All at once.
    side.connection.receive(client.takeOutput())
    TLSPair.collect(&side)
    #expect(side.failure == .failed("too many messages of the handshake protocol after the handshake"))
    #expect(side.connection.takeCiphertext().count < 200)
  }

  @Test func renegotiationIsRefused() throws {
    var side = try server()
    let client = try RawClient(version: TLS1_2_VERSION)
    try #require(client.connect(to: &side))
    client.receive(side.connection.takeCiphertext())
    #expect(SSL_renegotiate(client.ssl) == 1)
    #expect(SSL_do_handshake(client.ssl) != 1)
    let hello = client.takeOutput()
    #expect(hello.count > 50)
    side.connection.receive(hello)
    TLSPair.collect(&side)
    // The warning no_renegotiation and nothing more: RFC 5246 section 7.2.2. The connection stays as it is.
    let alert = side.connection.takeCiphertext()
    #expect((1..<60).contains(alert.count))
    side.connection.send([1])
    #expect(side.failure == nil && !side.connection.takeCiphertext().isEmpty)
    client.receive(alert)
    #expect(SSL_do_handshake(client.ssl) != 1)
    #expect(OpenSSLQueue.takeFirstReason() == "no renegotiation")
  }

  @Test func groupsThatKeepABoardBusyAreNotOffered() throws {
    for (group, isTaken) in [("ffdhe8192", false), ("ffdhe2048", false), ("P-521", false), ("P-256", true)] {
      var side = try server()
      let client = try RawClient(version: TLS1_3_VERSION) { context in
        precondition(copenssl_set_groups(context, group) == 1)
      }
      #expect(client.connect(to: &side) == isTaken, "\(group)")
    }
  }

  @Test func suitesWithoutForwardSecrecyOrAuthenticationAreRefused() throws {
    var side = try server()
    let client = try RawClient(version: TLS1_2_VERSION) { context in
      SSL_CTX_set_security_level(context, 0)
      precondition(SSL_CTX_set_cipher_list(context, "AES128-SHA:ECDHE-ECDSA-AES128-SHA:aNULL") == 1)
    }
    #expect(!client.connect(to: &side))
    #expect(side.failure != nil)
  }

  /// A server may send tickets, but not without end.
  @Test func anEndlessRowOfTicketsEndsAClient() throws {
    let context = try TLSContext.shared()
    SSL_CTX_clear_options(context.pointer, copenssl_tls_options())
    #expect(SSL_CTX_set_num_tickets(context.pointer, 150) == 1)
    let pair = try TLSPair(server: context)
    pair.connect()
    #expect(pair.client.failure == .failed("too many messages of the handshake protocol after the handshake"))
    #expect(SSL_CTX_set_num_tickets(context.pointer, 4) == 1)
    let usual = try TLSPair(server: context)
    usual.connect()
    usual.server.connection.send([1])
    usual.run()
    #expect(usual.client.failure == nil && usual.client.plaintext == [1])
  }
}
